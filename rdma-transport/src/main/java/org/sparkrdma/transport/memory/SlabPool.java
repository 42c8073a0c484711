/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The slabs of one executor: allocated on demand up to a budget of shared memory, then in files on local disk; touched
 * ahead of need; cut into extents; recycled after a quarantine, the oldest slabs first, so that the youngest fall idle
 * and can go.
 *
 * <p>Threading: any thread allocates and frees. One lock guards the books and is never held while a slab is touched; a
 * second one lets a single thread grow the pool. {@link #maintain} belongs to one background thread.
 */
public final class SlabPool implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SlabPool.class);
    private static final long RETRY_FULL_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final SlabPoolOptions options;
    private final SegmentFile.Factory files;
    private final LongSupplier nanoClock;
    private final MemoryGuard guard;
    private final SlabListener listener;
    private final LeakLog leaks;

    private final Object lock = new Object();
    private final Object growth = new Object();

    // Guarded by lock.
    /** Oldest first. */
    private final List<Slab> slabs = new ArrayList<>();

    private final Map<Integer, Integer> generations = new HashMap<>();
    private final Quarantine quarantine;
    private long memory;
    private long memoryPeak;
    private long overflow;
    private long overflowPeak;
    private long used;
    private boolean isInUse;
    private boolean isClosed;

    // Guarded by growth.
    private boolean hasSaidFull;
    private boolean isMemoryFull;
    private long memoryFullUntil;
    private String memoryRefusal = "";
    private int nextOverflowDirectory;

    /**
     * @param options how the pool behaves
     * @param files where its files come from
     * @param nanoClock a monotonic clock, nanoseconds
     * @param guard asked before shared memory grows
     * @param listener told of slabs
     */
    public SlabPool(
            SlabPoolOptions options,
            SegmentFile.Factory files,
            LongSupplier nanoClock,
            MemoryGuard guard,
            SlabListener listener) {
        this.options = options;
        this.files = files;
        this.nanoClock = nanoClock;
        this.guard = guard;
        this.listener = listener;
        this.leaks = new LeakLog(options.leakDetection());
        this.quarantine = new Quarantine(options.quarantine(), nanoClock);
    }

    /** Largest extent that is sure to fit a slab of either kind. */
    public long maxExtent() {
        return Math.min(options.slabBytes(), options.overflowSlabBytes());
    }

    /**
     * Allocates an extent of at least so many bytes, contiguous.
     *
     * @throws IOException if neither shared memory nor local disk has room; the message names both and their limits
     * @throws ClosedByInterruptException if the thread was interrupted while it made a slab
     */
    public Extent allocate(long bytes) throws IOException {
        if (bytes > SlabPoolOptions.MAX_SLAB_BYTES) {
            throw new IOException("a contiguous extent of " + bytes + " bytes was asked for, at most "
                    + SlabPoolOptions.MAX_SLAB_BYTES);
        }
        long size = BuddyAllocator.blockFor(bytes);
        Extent extent = take(size, false);
        while (extent == null && growMemory(size, false)) {
            extent = take(size, false);
        }
        while (extent == null) {
            extent = take(size, true);
            if (extent == null) {
                growOverflow(size);
            }
        }
        leaks.allocated(extent);
        return extent;
    }

    /** Gives the end of an extent back at once: nobody has seen it. The answer replaces the extent. */
    public Extent trim(Extent extent, long usedBytes) {
        long kept = (Math.max(usedBytes, 1) + BuddyAllocator.MIN_BLOCK - 1) & -BuddyAllocator.MIN_BLOCK;
        if (kept >= extent.length()) {
            return extent;
        }
        Extent shorter;
        synchronized (lock) {
            shorter = extent.slab().shorten(extent, kept);
            used -= extent.length() - kept;
        }
        leaks.replaced(extent, shorter);
        return shorter;
    }

    /**
     * Gives an extent back; it rests in quarantine before it is used again.
     *
     * @throws IllegalStateException if the extent is not out: it was given back before, or trimmed
     */
    public void free(Extent extent) {
        synchronized (lock) {
            extent.slab().takeBack(extent);
            leaks.freed(extent);
            if (isClosed) {
                used -= extent.length();
            } else {
                quarantine.add(extent);
            }
        }
    }

    /** What the pool holds. */
    public PoolUsage usage() {
        synchronized (lock) {
            return new PoolUsage(
                    options.memoryMax(), memory, memoryPeak, overflow, overflowPeak, used, quarantine.bytes());
        }
    }

    /** Where the extents that are out were allocated; empty unless leak detection is on. */
    public List<Throwable> allocationSites() {
        return leaks.sites();
    }

    /** Ends quarantines, gives idle slabs back, and touches slabs ahead of need. Called now and then. */
    public void maintain() {
        boolean isShort;
        synchronized (lock) {
            used -= quarantine.end();
            isShort = isInUse && !isClosed && freeMemory() < options.slabsAhead() * options.slabBytes();
        }
        closeIdle();
        if (isShort) {
            try {
                growMemory(options.slabBytes(), true);
            } catch (ClosedByInterruptException e) {
                LOG.debug("interrupted while a slab was made ahead of need");
            }
        }
    }

    /** Gives up every slab. Memory that is still being read stays readable until its reader lets go of it. */
    @Override
    public void close() {
        synchronized (growth) {
            List<Slab> closing;
            synchronized (lock) {
                if (isClosed) {
                    return;
                }
                isClosed = true;
                closing = List.copyOf(slabs);
                slabs.clear();
                used -= quarantine.clear();
                memory = 0;
                overflow = 0;
            }
            closing.forEach(this::closeSlab);
        }
        for (Throwable site : allocationSites()) {
            LOG.warn("an extent was not given back", site);
        }
    }

    /** Under lock: bytes of shared memory that can be handed out. */
    private long freeMemory() {
        long free = 0;
        for (Slab slab : slabs) {
            free += slab.isOverflow() ? 0 : slab.freeBytes();
        }
        return free;
    }

    private Extent take(long size, boolean fromOverflow) throws IOException {
        synchronized (lock) {
            checkOpen();
            isInUse = true;
            used -= quarantine.end();
            for (Slab slab : slabs) {
                Extent extent = slab.isOverflow() == fromOverflow ? slab.lend(size) : null;
                if (extent != null) {
                    used += size;
                    return extent;
                }
            }
            return null;
        }
    }

    /** Under lock. */
    private void checkOpen() throws IOException {
        if (isClosed) {
            throw new IOException("the shuffle memory of this executor is closed: the executor is stopping");
        }
    }

    /** Adds a slab of shared memory if budget, file system and machine allow it; answers whether it is worth a look. */
    private boolean growMemory(long size, boolean isAhead) throws ClosedByInterruptException {
        synchronized (growth) {
            if (!isAhead && hasFree(size, false)) {
                return true;
            }
            long bytes = Math.max(options.slabBytes(), size);
            if (options.memoryDirectory().isEmpty() || isMemoryFull() || exceedsBudget(bytes)) {
                return false;
            }
            Path directory = options.memoryDirectory().get();
            try {
                checkRoom(directory, bytes);
                open(directory, bytes, false);
                return true;
            } catch (ClosedByInterruptException e) {
                throw e; // Says something about this thread, nothing about the memory.
            } catch (IOException e) {
                isMemoryFull = true;
                memoryFullUntil = nanoClock.getAsLong() + RETRY_FULL_NANOS;
                memoryRefusal = "no further slab of " + bytes + " bytes in " + directory + ": " + describe(e);
                sayFullOnce(memoryRefusal);
                return false;
            }
        }
    }

    private void checkRoom(Path directory, long bytes) throws IOException {
        long usable = Files.getFileStore(directory).getUsableSpace();
        if (usable < bytes) {
            throw new IOException("only " + usable + " bytes are free there");
        }
        if (!guard.allows(bytes)) {
            throw new IOException("the machine is short of memory");
        }
    }

    private boolean isMemoryFull() {
        isMemoryFull &= nanoClock.getAsLong() - memoryFullUntil < 0;
        return isMemoryFull;
    }

    private boolean exceedsBudget(long bytes) {
        synchronized (lock) {
            return isClosed || memory + bytes > options.memoryMax();
        }
    }

    private void growOverflow(long size) throws IOException {
        synchronized (growth) {
            synchronized (lock) {
                checkOpen();
            }
            if (hasFree(size, true)) {
                return;
            }
            sayFullOnce("a map output needs " + size + " bytes");
            long bytes = Math.max(options.overflowSlabBytes(), size);
            List<IOException> failures = new ArrayList<>();
            int directories = options.overflowDirectories().size();
            for (int i = 0; i < directories; i++) {
                nextOverflowDirectory = (nextOverflowDirectory + 1) % directories;
                Path directory = options.overflowDirectories().get(nextOverflowDirectory);
                try {
                    open(directory, bytes, true);
                    return;
                } catch (ClosedByInterruptException e) {
                    throw e;
                } catch (IOException e) {
                    failures.add(new IOException("in " + directory + ": " + describe(e), e));
                }
            }
            throw noRoom(size, bytes, failures);
        }
    }

    private IOException noRoom(long size, long slabBytes, List<IOException> failures) {
        PoolUsage usage = usage();
        String why = failures.isEmpty()
                ? "there is no directory on local disk"
                : failures.stream().map(Throwable::getMessage).collect(Collectors.joining("; "));
        IOException noRoom = new IOException("a map output needs " + size + " bytes: " + usage.memory() + " of "
                + "spark.shuffle.rdma.memory.max=" + usage.memoryLimit() + " bytes are taken"
                + (isMemoryFull ? " (" + memoryRefusal + ")" : "")
                + ", and an overflow slab of " + slabBytes + " bytes could not be made: " + why
                + "; free space in spark.local.dir or spark.shuffle.rdma.overflow.dirs, or raise the budget");
        failures.forEach(noRoom::addSuppressed);
        return noRoom;
    }

    /** The message of a {@link FileSystemException} may be the file's name alone. */
    private static String describe(IOException e) {
        return e instanceof FileSystemException ? e.toString() : e.getMessage();
    }

    private void sayFullOnce(String what) {
        if (!hasSaidFull) {
            hasSaidFull = true;
            PoolUsage usage = usage();
            LOG.info(
                    "{}; {} of spark.shuffle.rdma.memory.max={} bytes are in use: written to local disk from now on"
                            + " while there is no more",
                    what,
                    usage.used(),
                    usage.memoryLimit());
        }
    }

    private boolean hasFree(long size, boolean inOverflow) {
        synchronized (lock) {
            used -= quarantine.end();
            return slabs.stream().anyMatch(slab -> slab.isOverflow() == inOverflow && slab.canLend(size));
        }
    }

    /** Puts a new slab into the books, under growth; the listener sees it before any of its extents is handed out. */
    private void open(Path directory, long bytes, boolean isOverflow) throws IOException {
        int id;
        int generation;
        synchronized (lock) {
            id = freeId();
            generation = generations.merge(id, 1, Integer::sum);
        }
        SegmentFile file = files.create(directory, bytes);
        Slab slab = new Slab(id, generation, isOverflow, file);
        try {
            listener.slabOpened(slab);
        } catch (RuntimeException e) {
            closeFile(slab);
            throw new IOException("slab " + id + " could not be published: " + e, e);
        }
        synchronized (lock) {
            slabs.add(slab);
            if (isOverflow) {
                overflow += slab.length();
                overflowPeak = Math.max(overflowPeak, overflow);
            } else {
                memory += slab.length();
                memoryPeak = Math.max(memoryPeak, memory);
            }
        }
    }

    private int freeId() throws IOException {
        Set<Integer> taken = slabs.stream().map(Slab::id).collect(Collectors.toSet());
        for (int id = 1; id < options.maxSlabs(); id++) {
            if (!taken.contains(id)) {
                return id;
            }
        }
        throw new IOException("all " + (options.maxSlabs() - 1) + " slab ids are taken: raise "
                + "spark.shuffle.rdma.slab.size or spark.shuffle.rdma.overflow.slab.size");
    }

    /**
     * Gives back slabs of which nothing is out: on disk at once, in shared memory after a while and the youngest first,
     * as long as one slab more than is wanted ahead stays free.
     */
    private void closeIdle() {
        synchronized (growth) {
            List<Slab> idle = new ArrayList<>();
            synchronized (lock) {
                long now = nanoClock.getAsLong();
                long spare = freeMemory() - (options.slabsAhead() + 1) * options.slabBytes();
                for (int i = slabs.size() - 1; i >= 0; i--) {
                    Slab slab = slabs.get(i);
                    if (slab.isOverflow()) {
                        if (slab.isUnused()) {
                            idle.add(slab);
                            overflow -= slab.length();
                        }
                    } else if (slab.isIdleFor(options.idle().toNanos(), now) && slab.length() <= spare) {
                        idle.add(slab);
                        memory -= slab.length();
                        spare -= slab.length();
                    }
                }
                slabs.removeAll(idle);
            }
            for (Slab slab : idle) {
                closeSlab(slab);
                slab.unmap();
            }
        }
    }

    /** Under growth: a slab's id is free for another one only when its listener knows that it is gone. */
    private void closeSlab(Slab slab) {
        try {
            listener.slabClosed(slab);
        } catch (RuntimeException e) {
            LOG.warn("slab {} could not be withdrawn", slab.id(), e);
        }
        closeFile(slab);
    }

    private static void closeFile(Slab slab) {
        try {
            slab.close();
        } catch (IOException e) {
            LOG.warn("a slab's file could not be closed: {}", slab.file(), e);
        }
    }
}
