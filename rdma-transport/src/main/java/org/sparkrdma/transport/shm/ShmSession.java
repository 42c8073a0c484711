/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.shm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkrdma.transport.api.PeerEndpoint;
import org.sparkrdma.transport.api.PeerSession;
import org.sparkrdma.transport.api.ReadLease;
import org.sparkrdma.transport.api.RemoteRange;
import org.sparkrdma.transport.api.TransportException;
import org.sparkrdma.transport.memory.SegmentNames;
import org.sparkrdma.transport.wire.DirectoryLayout;
import org.sparkrdma.transport.wire.SlabTableLayout;
import org.sparkrdma.transport.wire.SlabTableLayout.SlabEntry;
import org.sparkrdma.transport.wire.TornReadException;

/**
 * One peer's slabs, each mapped when it is first read, and dropped when the peer gives it up, when nobody has read the
 * peer for a while, and when so much was read that too many of its pages would stay resident here. A read is a view of
 * the peer's own memory: no copy, no lock.
 *
 * <p>Threading: any thread reads; the session's lock guards the making of mappings.
 */
final class ShmSession implements PeerSession {
    /** Of what fails only while the peer writes. */
    private static final int ATTEMPTS = 100;

    private final PeerEndpoint peer;
    private final MappedFile directory;
    private final ResidentBound resident;
    private final Map<Integer, MappedSlab> slabs = new ConcurrentHashMap<>();
    private final AtomicBoolean isClosed = new AtomicBoolean();
    /** The round of {@link ResidentBound} that the mappings are of. */
    private final AtomicLong round = new AtomicLong();

    private volatile boolean isIdle;

    private record MappedSlab(SlabEntry entry, MappedFile file) {}

    ShmSession(PeerEndpoint peer, MappedFile directory, ResidentBound resident) {
        this.peer = peer;
        this.directory = directory;
        this.resident = resident;
    }

    @Override
    public PeerEndpoint peer() {
        return peer;
    }

    @Override
    public CompletableFuture<ReadLease> read(RemoteRange range) {
        try {
            return CompletableFuture.completedFuture(lease(range));
        } catch (TransportException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    @Override
    public boolean isOverflow(int slabId) throws TransportException {
        return slabId != DirectoryLayout.DIRECTORY_SLAB && slab(slabId).entry().isOverflow();
    }

    @Override
    public boolean isAlive() {
        if (isClosed.get() || !directory.retain()) {
            return false;
        }
        try {
            return DirectoryLayout.isOpen(directory.memory()) && peer.process().isAlive();
        } finally {
            directory.release();
        }
    }

    @Override
    public void dropStale() {
        try {
            for (MappedSlab mapped : slabs.values()) {
                if (isIdle || !isCurrent(mapped)) {
                    drop(mapped);
                }
            }
            isIdle = true;
        } catch (TransportException e) {
            // Closed meanwhile, which drops all.
        }
    }

    @Override
    public void close() {
        if (isClosed.compareAndSet(false, true)) {
            slabs.values().forEach(this::drop);
            directory.close();
        }
    }

    private ReadLease lease(RemoteRange range) throws TransportException {
        if (isIdle) {
            isIdle = false;
        }
        long now = resident.count(range.length());
        long before = round.get();
        if (now != before && round.compareAndSet(before, now)) {
            slabs.values().forEach(this::drop);
        }
        MappedFile file = retained(range.slabId());
        if (range.offset() > file.length() - range.length()) {
            file.release();
            throw new TransportException(range + " of executor " + peer.executorId() + " ends behind its slab of "
                    + file.length() + " bytes");
        }
        return new MappedLease(file, range);
    }

    private MappedFile retained(int slabId) throws TransportException {
        while (!isClosed.get()) {
            MappedFile file = slabId == DirectoryLayout.DIRECTORY_SLAB
                    ? directory
                    : slab(slabId).file();
            if (file.retain()) {
                return file;
            }
            // Dropped since it was looked up: the next look maps it again, or says that it is gone.
        }
        throw closed();
    }

    private MappedSlab slab(int slabId) throws TransportException {
        MappedSlab mapped = slabs.get(slabId);
        return mapped != null && isCurrent(mapped) ? mapped : map(slabId);
    }

    /** Maps a slab. Its owner may give it up meanwhile, and its descriptor's number then stands for another file. */
    private synchronized MappedSlab map(int slabId) throws TransportException {
        MappedSlab old = slabs.get(slabId);
        if (old != null && isCurrent(old)) {
            return old;
        }
        if (old != null) {
            drop(old);
        }
        for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
            SlabEntry entry = entry(slabId)
                    .orElseThrow(() -> new TransportException(
                            "slab " + slabId + " of executor " + peer.executorId() + " is not there any more"));
            MappedSlab mapped = new MappedSlab(entry, open(entry));
            if (isCurrent(mapped)) {
                slabs.put(slabId, mapped);
                if (isClosed.get()) {
                    drop(mapped);
                    throw closed();
                }
                return mapped;
            }
            mapped.file().close();
        }
        throw new TransportException("slab " + slabId + " of executor " + peer.executorId() + " changes all the time");
    }

    private MappedFile open(SlabEntry entry) throws TransportException {
        try {
            return MappedFile.open(pathOf(entry), entry.length());
        } catch (IOException | InvalidPathException e) {
            throw new TransportException(
                    "slab " + entry.slabId() + " of executor " + peer.executorId() + " cannot be mapped: " + e, e);
        }
    }

    private boolean isCurrent(MappedSlab mapped) throws TransportException {
        if (!directory.retain()) {
            throw closed();
        }
        try {
            return SlabTableLayout.isCurrent(directory.memory(), mapped.entry());
        } finally {
            directory.release();
        }
    }

    private TransportException closed() {
        return new TransportException("the session with executor " + peer.executorId() + " is closed");
    }

    private Path pathOf(SlabEntry entry) throws IOException {
        if (entry.descriptor() >= 0) {
            return ShmTransport.descriptorPath(peer.process(), entry.descriptor());
        }
        if (entry.isOverflow()) {
            throw new IOException("an overflow file that keeps its name is read by its owner alone");
        }
        return SegmentNames.of(
                Path.of(peer.directory().path()).toAbsolutePath().getParent(), peer.process(), entry.sequence());
    }

    private Optional<SlabEntry> entry(int slabId) throws TransportException {
        if (!directory.retain()) {
            throw closed();
        }
        try {
            for (int attempt = 1; ; attempt++) {
                try {
                    return SlabTableLayout.read(directory.memory(), slabId);
                } catch (TornReadException e) {
                    if (attempt == ATTEMPTS) {
                        throw new TransportException("executor " + peer.executorId() + ": " + e.getMessage(), e);
                    }
                    Thread.onSpinWait();
                } catch (IllegalArgumentException e) {
                    throw new TransportException("executor " + peer.executorId() + ": " + e.getMessage(), e);
                }
            }
        } finally {
            directory.release();
        }
    }

    private void drop(MappedSlab mapped) {
        if (slabs.remove(mapped.entry().slabId(), mapped)) {
            mapped.file().close();
        }
    }

    private static final class MappedLease implements ReadLease {
        private final MappedFile file;
        private final ByteBuffer bytes;
        private final AtomicBoolean isClosed = new AtomicBoolean();

        MappedLease(MappedFile file, RemoteRange range) {
            this.file = file;
            this.bytes = file.memory().slice((int) range.offset(), (int) range.length());
        }

        @Override
        public ByteBuffer bytes() {
            if (isClosed.get()) {
                throw new IllegalStateException("these bytes were given back");
            }
            return bytes.asReadOnlyBuffer();
        }

        @Override
        public void close() {
            if (isClosed.compareAndSet(false, true)) {
                file.release();
            }
        }
    }
}
