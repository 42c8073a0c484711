/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.write;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.apache.spark.shuffle.rdma.catalog.MapOutputData;
import org.apache.spark.shuffle.rdma.compat.DirectMemory;
import org.sparkrdma.transport.memory.Extent;
import org.sparkrdma.transport.memory.SlabPool;

/**
 * A map output that grows in all its partitions at once: each partition appends to a chunk of its own, cut from extents
 * in the slabs; a full chunk is checksummed and left where it is, and a new one is cut. A partition's first chunk is
 * small and the next ones grow with it, so that little is wasted whatever its size.
 *
 * <pre>
 *   extents   | p0 | p1 | p2 |  p0    |  p2    | p1 |      p0      | ... bump -->   |
 * </pre>
 *
 * <p>A record never straddles chunks: readers can point at it where it lies.
 *
 * <p>Threading: one map task appends; what {@link #finish} answers may be read by any.
 */
final class PartitionChunks implements RecordSink {
    static final int FIRST_CHUNK = 1 << 10;

    private static final long FIRST_EXTENT = 64 << 10;
    private static final long LARGEST_EXTENT = 4 << 20;
    private static final int ALIGNMENT = 8;

    private final SlabPool pool;
    private final int largestChunk;
    private final long largestExtent;
    private final Extents owned;
    private final List<Extent> extents;
    private final List<ByteBuffer> views = new ArrayList<>();
    /** Address of the current extent's first unused byte, and behind its last byte. */
    private long bump;

    private long bumpLimit;

    /** Per partition: address where the next record goes, and behind the chunk's last byte. */
    private final long[] cursor;

    private final long[] limit;
    private final long[] start;
    private final int[] extentOf;
    private final long[] lengths;
    private final CRC32C[] crcs;
    private final Pieces pieces = new Pieces();

    /**
     * @param pool where extents come from
     * @param partitions number of reduce partitions
     * @param largestChunk most bytes of a chunk, unless one record is larger
     */
    PartitionChunks(SlabPool pool, int partitions, int largestChunk) {
        this.pool = pool;
        this.owned = new Extents(pool);
        this.extents = owned.list;
        this.largestChunk = largestChunk;
        this.largestExtent = Math.min(LARGEST_EXTENT, pool.maxExtent());
        cursor = new long[partitions];
        limit = new long[partitions];
        start = new long[partitions];
        extentOf = new int[partitions];
        lengths = new long[partitions];
        crcs = new CRC32C[partitions];
    }

    /** Largest chunk for so many partitions: all open chunks of a task together stay at a few MiB. */
    static int largestChunkFor(int partitions) {
        if (partitions <= 64) {
            return 64 << 10;
        }
        return partitions <= 256 ? 32 << 10 : partitions <= 1024 ? 16 << 10 : 8 << 10;
    }

    @Override
    public long reserve(int partition, int bytes) throws IOException {
        long at = cursor[partition];
        return limit[partition] - at >= bytes ? at : nextChunk(partition, bytes);
    }

    @Override
    public Object base() {
        return null;
    }

    @Override
    public void written(int partition, int bytes) {
        cursor[partition] += bytes;
    }

    /**
     * Cuts for each partition a chunk for so many bytes to come, which then lie in one piece as far as extents reach.
     *
     * @throws IOException if there is no room left anywhere
     */
    void expect(long[] bytes) throws IOException {
        for (int partition = 0; partition < bytes.length; partition++) {
            if (bytes[partition] > limit[partition] - cursor[partition]) {
                closeChunk(partition);
                long wanted = Math.min(bytes[partition], largestExtent);
                cutChunk(partition, wanted, Math.min(wanted, largestChunk));
            }
        }
    }

    /** Closes all chunks. The map output owns the memory from here on. */
    MapOutputData finish() {
        int[] checksums = new int[lengths.length];
        for (int partition = 0; partition < lengths.length; partition++) {
            closeChunk(partition);
            checksums[partition] = crcs[partition] == null ? 0 : (int) crcs[partition].getValue();
        }
        if (!extents.isEmpty()) {
            int last = extents.size() - 1;
            Extent extent = extents.get(last);
            extents.set(last, pool.trim(extent, extent.length() - (bumpLimit - bump)));
        }
        return new Finished(lengths, checksums, pieces.byPartition(lengths.length));
    }

    /** Gives all memory back; doing so twice does nothing. */
    void free() {
        owned.free();
    }

    private long nextChunk(int partition, int bytes) throws IOException {
        closeChunk(partition);
        long wanted = Math.min(largestChunk, Math.max(FIRST_CHUNK, Long.highestOneBit(lengths[partition])));
        cutChunk(partition, Math.max(wanted, bytes), Math.max(FIRST_CHUNK, bytes));
        return start[partition];
    }

    /** Cuts a chunk of so many bytes, or of what the extent has left if that is enough. */
    private void cutChunk(int partition, long wanted, long enough) throws IOException {
        long size = (wanted + ALIGNMENT - 1) & -ALIGNMENT;
        if (bumpLimit - bump < size) {
            if (bumpLimit - bump >= enough) {
                size = bumpLimit - bump;
            } else {
                nextExtent(size);
            }
        }
        start[partition] = bump;
        cursor[partition] = bump;
        extentOf[partition] = extents.size() - 1;
        bump += size;
        limit[partition] = bump;
    }

    private void nextExtent(long atLeast) throws IOException {
        if (owned.isFreed) {
            throw new IOException("the map output was already given back");
        }
        long next = extents.isEmpty()
                ? FIRST_EXTENT
                : extents.get(extents.size() - 1).length() * 2;
        Extent extent = pool.allocate(Math.max(Math.min(next, largestExtent), atLeast));
        ByteBuffer view = extent.view();
        extents.add(extent);
        views.add(view);
        bump = DirectMemory.address(view);
        bumpLimit = bump + extent.length();
    }

    private void closeChunk(int partition) {
        int used = (int) (cursor[partition] - start[partition]);
        if (used == 0) {
            return;
        }
        ByteBuffer view = views.get(extentOf[partition]);
        int from = (int) (start[partition] - DirectMemory.address(view));
        if (crcs[partition] == null) {
            crcs[partition] = new CRC32C();
        }
        view.limit(from + used).position(from);
        crcs[partition].update(view);
        view.clear();
        Extent extent = extents.get(extentOf[partition]);
        pieces.add(partition, extent.slab().id(), extent.offset() + from, used);
        lengths[partition] += used;
        start[partition] = cursor[partition];
    }

    /** The extents by themselves: what outlives the writing. */
    private static final class Extents {
        private final SlabPool pool;
        private final List<Extent> list = new ArrayList<>();
        private boolean isFreed;

        Extents(SlabPool pool) {
            this.pool = pool;
        }

        void free() {
            if (!isFreed) {
                isFreed = true;
                list.forEach(pool::free);
            }
        }
    }

    /** Pieces in the order in which they were closed, in growing arrays. */
    private static final class Pieces {
        private int count;
        private int[] partition = new int[64];
        private int[] slab = new int[64];
        private int[] length = new int[64];
        private long[] offset = new long[64];

        void add(int ofPartition, int slabId, long slabOffset, int bytes) {
            if (count == partition.length) {
                partition = Arrays.copyOf(partition, count * 2);
                slab = Arrays.copyOf(slab, count * 2);
                length = Arrays.copyOf(length, count * 2);
                offset = Arrays.copyOf(offset, count * 2);
            }
            partition[count] = ofPartition;
            slab[count] = slabId;
            length[count] = bytes;
            offset[count++] = slabOffset;
        }

        /** The same pieces ordered by partition, those of a partition in their order. */
        Ordered byPartition(int partitions) {
            int[] first = new int[partitions + 1];
            for (int i = 0; i < count; i++) {
                first[partition[i] + 1]++;
            }
            for (int p = 0; p < partitions; p++) {
                first[p + 1] += first[p];
            }
            int[] order = new int[count];
            int[] next = Arrays.copyOf(first, partitions);
            for (int i = 0; i < count; i++) {
                order[next[partition[i]]++] = i;
            }
            return new Ordered(this, first, order);
        }
    }

    private record Ordered(Pieces pieces, int[] first, int[] order) {}

    /** The map output when it is complete. */
    private final class Finished implements MapOutputData {
        private final long[] finalLengths;
        private final int[] checksums;
        private final Ordered ordered;

        Finished(long[] finalLengths, int[] checksums, Ordered ordered) {
            this.finalLengths = finalLengths;
            this.checksums = checksums;
            this.ordered = ordered;
        }

        @Override
        public long[] lengths() {
            return finalLengths;
        }

        @Override
        public int[] crcs() {
            return checksums;
        }

        @Override
        public boolean isRaw() {
            return true;
        }

        @Override
        public int pieceCount() {
            return ordered.order().length;
        }

        @Override
        public void pieces(int partition, PieceSink sink) {
            Pieces all = ordered.pieces();
            for (int i = ordered.first()[partition]; i < ordered.first()[partition + 1]; i++) {
                int piece = ordered.order()[i];
                sink.piece(all.slab[piece], all.offset[piece], all.length[piece]);
            }
        }

        @Override
        public Runnable givingBack() {
            return owned::free;
        }
    }
}
