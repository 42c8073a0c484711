/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.catalog;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.sparkrdma.transport.api.PeerEndpoint.SharedFile;
import org.sparkrdma.transport.api.PeerEndpoint.Token;
import org.sparkrdma.transport.memory.Extent;
import org.sparkrdma.transport.memory.SegmentFile;
import org.sparkrdma.transport.memory.Slab;
import org.sparkrdma.transport.memory.SlabListener;
import org.sparkrdma.transport.memory.SlabPool;
import org.sparkrdma.transport.wire.DirectoryEntryLayout;
import org.sparkrdma.transport.wire.DirectoryEntryLayout.Entry;
import org.sparkrdma.transport.wire.DirectoryLayout;
import org.sparkrdma.transport.wire.DirectoryLayout.Segment;
import org.sparkrdma.transport.wire.SlabTableLayout;
import org.sparkrdma.transport.wire.SlabTableLayout.SlabEntry;
import org.sparkrdma.transport.wire.TornReadException;

/**
 * This executor's directory: what {@code wire.DirectoryLayout} describes, written by its owner. It publishes the slabs
 * as the pool opens them, and the map outputs as they are committed.
 *
 * <p>Threading: one lock; a map output is published once, so nothing hot waits for it.
 */
final class Directory implements SlabListener, AutoCloseable {
    private final SegmentFile file;
    private final ByteBuffer region;
    private final Token token = Token.random();
    /** The segments with their memory; guarded by this. */
    private final List<SegmentMemory> segments = new ArrayList<>();

    /** A segment; its extent goes back at the end, and there is none for the first one. */
    private record SegmentMemory(Segment layout, ByteBuffer memory, Runnable giveBack) {}

    /** Makes an empty directory in a file that peers can map. */
    Directory(SegmentFile file) {
        this.file = file;
        this.region = file.memory();
        DirectoryLayout.initialize(region, token);
        segments.add(new SegmentMemory(
                new Segment(
                        DirectoryLayout.DIRECTORY_SLAB,
                        DirectoryLayout.FIRST_SEGMENT_OFFSET,
                        DirectoryLayout.FIRST_SEGMENT_BUCKETS),
                region,
                () -> {}));
    }

    Token token() {
        return token;
    }

    SharedFile sharedFile() {
        return file.shared();
    }

    /** The region's memory, for the owner's own lookups. */
    ByteBuffer region() {
        return region.duplicate();
    }

    @Override
    public synchronized void slabOpened(Slab slab) {
        SlabTableLayout.write(
                region,
                new SlabEntry(
                        slab.id(),
                        slab.isOverflow(),
                        slab.file().descriptor(),
                        slab.length(),
                        slab.generation(),
                        slab.sequence()));
    }

    @Override
    public synchronized void slabClosed(Slab slab) {
        SlabTableLayout.clear(region, slab.id());
    }

    /** Publishes an entry, in the first segment whose bucket has room; a new one twice as large if none has. */
    void publish(Entry entry, SlabPool pool) throws IOException {
        int buckets = putOrCount(entry);
        while (buckets > 0) {
            // Not under the lock: the pool may have to publish a slab for it, from this thread or another one.
            grow(buckets, pool.allocate((long) buckets * 2 * DirectoryLayout.BUCKET_BYTES), pool);
            buckets = putOrCount(entry);
        }
    }

    /** Withdraws a map output. */
    synchronized void withdraw(Entry entry) {
        for (SegmentMemory segment : segments) {
            int bucket = (int) segment.layout().bucketOffset(entry.shuffleId(), entry.mapId());
            for (int slot = 0; slot < DirectoryLayout.BUCKET_ENTRIES; slot++) {
                int at = bucket + slot * DirectoryEntryLayout.BYTES;
                if (holds(segment.memory(), at, entry)) {
                    DirectoryEntryLayout.clear(segment.memory(), at);
                }
            }
        }
    }

    /** Tells readers that this memory is going away. */
    @Override
    public synchronized void close() throws IOException {
        DirectoryLayout.close(region);
        segments.forEach(segment -> segment.giveBack().run());
        segments.clear();
        file.close();
    }

    /** Answers 0 if the entry found room, else how many buckets the newest segment has. */
    private synchronized int putOrCount(Entry entry) throws IOException {
        if (segments.isEmpty()) {
            throw new IOException("the directory of this executor is closed: the executor is stopping");
        }
        for (SegmentMemory segment : segments) {
            if (put(segment, entry)) {
                return 0;
            }
        }
        return segments.get(segments.size() - 1).layout().buckets();
    }

    /** Adds a segment, unless another thread was faster. */
    private synchronized void grow(int buckets, Extent extent, SlabPool pool) throws IOException {
        if (segments.isEmpty() || segments.get(segments.size() - 1).layout().buckets() != buckets) {
            pool.free(extent);
            return;
        }
        if (segments.size() == DirectoryLayout.MAX_SEGMENTS) {
            pool.free(extent);
            throw new IOException("the directory of this executor is full: it has all its "
                    + DirectoryLayout.MAX_SEGMENTS + " segments");
        }
        ByteBuffer fresh = extent.view();
        while (fresh.hasRemaining()) {
            fresh.putLong(0);
        }
        Segment layout = new Segment(extent.slab().id(), extent.offset(), buckets * 2);
        DirectoryLayout.addSegment(region, layout);
        segments.add(new SegmentMemory(layout, extent.slab().memory(), () -> pool.free(extent)));
    }

    private static boolean put(SegmentMemory segment, Entry entry) {
        int bucket = (int) segment.layout().bucketOffset(entry.shuffleId(), entry.mapId());
        for (int slot = 0; slot < DirectoryLayout.BUCKET_ENTRIES; slot++) {
            int at = bucket + slot * DirectoryEntryLayout.BYTES;
            if (DirectoryEntryLayout.isFree(segment.memory(), at)) {
                DirectoryEntryLayout.write(segment.memory(), at, entry);
                return true;
            }
        }
        return false;
    }

    private static boolean holds(ByteBuffer memory, int at, Entry entry) {
        try {
            return DirectoryEntryLayout.read(memory, at).equals(Optional.of(entry));
        } catch (TornReadException e) {
            return false; // A damaged entry is nobody's; readers refuse it too.
        }
    }
}
