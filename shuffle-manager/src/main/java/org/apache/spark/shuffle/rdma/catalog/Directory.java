/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.catalog;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
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

    private record SegmentMemory(Segment layout, ByteBuffer memory) {}

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
                region));
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
    synchronized void publish(Entry entry, SlabPool pool) throws IOException {
        for (SegmentMemory segment : segments) {
            if (put(segment, entry)) {
                return;
            }
        }
        if (!put(grow(pool), entry)) {
            throw new IllegalStateException("an empty directory segment has no room");
        }
    }

    /** Withdraws a map output. */
    synchronized void withdraw(int shuffleId, long mapId) {
        for (SegmentMemory segment : segments) {
            int bucket = (int) segment.layout().bucketOffset(shuffleId, mapId);
            for (int slot = 0; slot < DirectoryLayout.BUCKET_ENTRIES; slot++) {
                int at = bucket + slot * DirectoryEntryLayout.BYTES;
                if (holds(segment.memory(), at, shuffleId, mapId)) {
                    DirectoryEntryLayout.clear(segment.memory(), at);
                }
            }
        }
    }

    /** Tells readers that this memory is going away. */
    @Override
    public synchronized void close() throws IOException {
        DirectoryLayout.close(region);
        file.close();
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

    private static boolean holds(ByteBuffer memory, int at, int shuffleId, long mapId) {
        try {
            return DirectoryEntryLayout.read(memory, at)
                    .filter(entry -> entry.shuffleId() == shuffleId && entry.mapId() == mapId)
                    .isPresent();
        } catch (TornReadException e) {
            return false; // A damaged entry is nobody's; readers refuse it too.
        }
    }

    private SegmentMemory grow(SlabPool pool) throws IOException {
        int buckets = segments.get(segments.size() - 1).layout().buckets() * 2;
        Extent extent = pool.allocate((long) buckets * DirectoryLayout.BUCKET_BYTES);
        ByteBuffer memory = extent.slab().memory();
        ByteBuffer fresh = extent.view();
        while (fresh.hasRemaining()) {
            fresh.putLong(0);
        }
        Segment layout = new Segment(extent.slab().id(), extent.offset(), buckets);
        DirectoryLayout.addSegment(region, layout);
        SegmentMemory segment = new SegmentMemory(layout, memory);
        segments.add(segment);
        return segment;
    }
}
