/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The slabs of one executor: allocated on demand up to a budget of shared memory, then in files on local disk; touched
 * ahead of need; cut into extents; recycled after a quarantine, first those that were used last.
 *
 * <p>Threading: any thread allocates and frees. One lock guards the books and is never held while a slab is touched; a
 * second one lets a single thread grow the pool. {@link #maintain} belongs to one background thread.
 */
public final class SlabPool implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SlabPool.class);
    private static final long MAX_SLAB_BYTES = 1L << 30;
    private static final long RETRY_FULL_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final SlabPoolOptions options;
    private final SegmentFile.Factory files;
    private final LongSupplier nanoClock;
    private final MemoryGuard guard;
    private final SlabListener listener;

    private final Object lock = new Object();
    private final Object growth = new Object();
    /** Slabs by id, in shared memory first: guarded by lock. */
    private final List<Slab> slabs = new ArrayList<>();

    private final Map<Integer, Integer> generations = new HashMap<>();
    private final Deque<Resting> quarantine = new ArrayDeque<>();
    private final Map<Extent, Throwable> sites = Collections.synchronizedMap(new IdentityHashMap<>());
    private long memory;
    private long memoryPeak;
    private long overflow;
    private long overflowPeak;
    private long used;
    private long quarantined;
    private boolean isInUse;
    private boolean isClosed;
    private boolean hasSaidFull;
    /** Guarded by growth. */
    private boolean isMemoryFull;

    private long memoryFullUntil;

    private int nextOverflowDirectory;

    private record Resting(Extent extent, long until) {}

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
    }

    /** Largest extent that is sure to fit a slab of either kind. */
    public long maxExtent() {
        return Math.min(options.slabBytes(), options.overflowSlabBytes());
    }

    /**
     * Allocates an extent of at least so many bytes, contiguous.
     *
     * @throws IOException if neither shared memory nor local disk has room; the message names both and their limits
     */
    public Extent allocate(long bytes) throws IOException {
        long size = BuddyAllocator.blockFor(bytes);
        if (size > MAX_SLAB_BYTES) {
            throw new IOException(
                    "a contiguous extent of " + bytes + " bytes was asked for, at most " + MAX_SLAB_BYTES);
        }
        Extent extent = take(size, false);
        if (extent == null && growMemory(size, false)) {
            extent = take(size, false);
        }
        while (extent == null) {
            extent = take(size, true);
            if (extent == null) {
                growOverflow(size);
            }
        }
        if (options.leakDetection()) {
            sites.put(extent, new Throwable("allocated here"));
        }
        return extent;
    }

    /** Gives the end of an extent back at once: nobody has seen it. The answer replaces the extent. */
    public Extent trim(Extent extent, long usedBytes) {
        long kept = (Math.max(usedBytes, 1) + BuddyAllocator.MIN_BLOCK - 1) & -BuddyAllocator.MIN_BLOCK;
        if (kept >= extent.length()) {
            return extent;
        }
        Extent shorter = new Extent(extent.slab(), extent.offset(), kept);
        Throwable site = sites.remove(extent);
        if (site != null) {
            sites.put(shorter, site);
        }
        synchronized (lock) {
            extent.slab().allocator().free(extent.offset() + kept, extent.length() - kept);
            used -= extent.length() - kept;
        }
        return shorter;
    }

    /** Gives an extent back; it rests in quarantine before it is used again. */
    public void free(Extent extent) {
        sites.remove(extent);
        synchronized (lock) {
            quarantine.add(new Resting(
                    extent, nanoClock.getAsLong() + options.quarantine().toNanos()));
            quarantined += extent.length();
        }
    }

    /** What the pool holds. */
    public PoolUsage usage() {
        synchronized (lock) {
            return new PoolUsage(options.memoryMax(), memory, memoryPeak, overflow, overflowPeak, used, quarantined);
        }
    }

    /** Where the extents that are out were allocated; empty unless leak detection is on. */
    public List<Throwable> allocationSites() {
        synchronized (sites) {
            return List.copyOf(sites.values());
        }
    }

    /** Ends quarantines, lets idle overflow slabs go, and touches slabs ahead of need. Called now and then. */
    public void maintain() {
        boolean isShort;
        synchronized (lock) {
            endQuarantines();
            long free = 0;
            for (Slab slab : slabs) {
                free += slab.isOverflow() ? 0 : slab.allocator().freeBytes();
            }
            isShort = isInUse && !isClosed && free < options.slabsAhead() * options.slabBytes();
        }
        closeIdleOverflow();
        if (isShort) {
            growMemory(options.slabBytes(), true);
        }
    }

    /** Gives up every slab. Memory that is still being read stays readable until its reader lets go of it. */
    @Override
    public void close() {
        synchronized (growth) {
            List<Slab> closing;
            synchronized (lock) {
                isClosed = true;
                closing = List.copyOf(slabs);
                slabs.clear();
                quarantine.clear();
                memory = 0;
                overflow = 0;
            }
            closing.forEach(this::closeSlab);
        }
        for (Throwable site : allocationSites()) {
            LOG.warn("an extent was not given back", site);
        }
    }

    private Extent take(long size, boolean fromOverflow) throws IOException {
        synchronized (lock) {
            if (isClosed) {
                throw new IOException("the shuffle memory of this executor is closed: the executor is stopping");
            }
            isInUse = true;
            endQuarantines();
            for (Slab slab : slabs) {
                if (slab.isOverflow() == fromOverflow) {
                    long offset = slab.allocator().allocate(size);
                    if (offset >= 0) {
                        used += size;
                        return new Extent(slab, offset, size);
                    }
                }
            }
            return null;
        }
    }

    private void endQuarantines() {
        long now = nanoClock.getAsLong();
        while (!quarantine.isEmpty() && quarantine.peek().until() - now <= 0) {
            Extent extent = quarantine.remove().extent();
            extent.slab().allocator().free(extent.offset(), extent.length());
            quarantined -= extent.length();
            used -= extent.length();
        }
    }

    /** Adds a slab of shared memory if budget, file system and machine allow it; answers whether it is worth a look. */
    private boolean growMemory(long size, boolean isAhead) {
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
                if (Files.getFileStore(directory).getUsableSpace() < bytes || !guard.allows(bytes)) {
                    throw new IOException("not enough is free");
                }
                open(files.create(directory, bytes), false);
                return true;
            } catch (IOException e) {
                isMemoryFull = true;
                memoryFullUntil = nanoClock.getAsLong() + RETRY_FULL_NANOS;
                sayFullOnce("no further slab of " + bytes + " bytes in " + directory + ": " + e.getMessage());
                return false;
            }
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
            if (hasFree(size, true)) {
                return;
            }
            sayFullOnce("a map output needs " + size + " bytes");
            long bytes = Math.max(options.overflowSlabBytes(), size);
            IOException failure = new IOException("there is no directory on local disk");
            int directories = options.overflowDirectories().size();
            for (int i = 0; i < directories; i++) {
                Path directory = options.overflowDirectories().get(nextOverflowDirectory++ % directories);
                try {
                    open(files.create(directory, bytes), true);
                    return;
                } catch (IOException e) {
                    failure = new IOException("in " + directory + ": " + e.getMessage(), e);
                }
            }
            PoolUsage usage = usage();
            throw new IOException(
                    "a map output needs " + size + " bytes: " + usage.memory() + " of "
                            + "spark.shuffle.rdma.memory.max=" + usage.memoryLimit()
                            + " are taken, and an overflow slab of " + bytes + " bytes could not be made "
                            + failure.getMessage() + "; free space in spark.local.dir or "
                            + "spark.shuffle.rdma.overflow.dirs, or raise the budget",
                    failure);
        }
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
            endQuarantines();
            return slabs.stream()
                    .anyMatch(slab ->
                            slab.isOverflow() == inOverflow && slab.allocator().canAllocate(size));
        }
    }

    /** Puts a new slab into the books; the listener sees it before any of its extents is handed out. */
    private void open(SegmentFile file, boolean isOverflow) throws IOException {
        Slab slab;
        synchronized (lock) {
            int id = isClosed ? options.maxSlabs() : freeId();
            if (id == options.maxSlabs()) {
                file.close();
                throw new IOException(
                        isClosed
                                ? "the executor is stopping"
                                : "all " + id + " slab ids are taken: raise" + " spark.shuffle.rdma.slab.size");
            }
            slab = new Slab(id, generations.merge(id, 1, Integer::sum), isOverflow, file);
        }
        listener.slabOpened(slab);
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

    private int freeId() {
        for (int id = 1; id < options.maxSlabs(); id++) {
            int candidate = id;
            if (slabs.stream().noneMatch(slab -> slab.id() == candidate)) {
                return id;
            }
        }
        return options.maxSlabs();
    }

    private void closeIdleOverflow() {
        synchronized (growth) {
            List<Slab> idle = new ArrayList<>();
            synchronized (lock) {
                for (Slab slab : slabs) {
                    if (slab.isOverflow() && slab.isUnused()) {
                        idle.add(slab);
                        overflow -= slab.length();
                    }
                }
                slabs.removeAll(idle);
            }
            idle.forEach(this::closeSlab);
        }
    }

    /** Under the growth lock: a slab's id is free for another one only when its listener knows that it is gone. */
    private void closeSlab(Slab slab) {
        listener.slabClosed(slab);
        try {
            slab.close();
        } catch (IOException e) {
            LOG.warn("a slab's file could not be closed: {}", slab.file(), e);
        }
    }
}
