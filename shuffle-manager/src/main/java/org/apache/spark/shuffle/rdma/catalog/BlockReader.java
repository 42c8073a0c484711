/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.catalog;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.sparkrdma.transport.api.ReadLease;
import org.sparkrdma.transport.api.RemoteRange;
import org.sparkrdma.transport.wire.DirectoryEntryLayout.Entry;
import org.sparkrdma.transport.wire.PartitionIndexLayout;
import org.sparkrdma.transport.wire.TornReadException;

/**
 * Reads a run of partitions of a map output given its directory entry: header and partition table, pieces, data. The
 * same walk serves the owner and, through a transport, its peers.
 */
public final class BlockReader {
    private BlockReader() {}

    /**
     * Reads partitions {@code start} to {@code end} (exclusive). The caller closes the answer.
     *
     * @throws TornReadException if the index is not the entry's, or makes no sense: it was recycled, or is damaged
     * @throws IOException if a range cannot be read
     */
    public static StoredBlock read(SlabAccess slabs, Entry entry, int start, int end) throws IOException {
        if (start < 0 || end <= start || end > entry.partitions()) {
            throw new TornReadException(
                    "partitions " + start + " to " + end + " were asked for of a map output of " + entry.partitions());
        }
        int count = end - start;
        ByteBuffer header = copy(slabs, indexRange(entry, 0, PartitionIndexLayout.HEADER_BYTES));
        PartitionIndexLayout.verifyHeader(header, entry);
        long tableAt = PartitionIndexLayout.HEADER_BYTES + (long) PartitionIndexLayout.PARTITION_BYTES * start;
        ByteBuffer table = copy(slabs, indexRange(entry, tableAt, PartitionIndexLayout.PARTITION_BYTES * (count + 1L)));
        PartitionIndexLayout.verifyPartitions(table, start, count, entry);
        long[] lengths = new long[count];
        int[] crcs = new int[count];
        for (int i = 0; i < count; i++) {
            lengths[i] = PartitionIndexLayout.length(table, start, start + i);
            crcs[i] = PartitionIndexLayout.crc32c(table, start, start + i);
        }
        int firstPiece = PartitionIndexLayout.firstPiece(table, start, start);
        int pieces = PartitionIndexLayout.firstPiece(table, start, end) - firstPiece;
        return readPieces(slabs, entry, firstPiece, pieces, lengths, crcs);
    }

    /** What was verified must be what is used: the memory may be somebody else's any moment. */
    private static ByteBuffer copy(SlabAccess slabs, RemoteRange range) throws IOException {
        try (ReadLease lease = slabs.read(range)) {
            ByteBuffer bytes = lease.bytes();
            return ByteBuffer.allocate(bytes.remaining()).put(bytes).flip();
        }
    }

    private static StoredBlock readPieces(
            SlabAccess slabs, Entry entry, int firstPiece, int pieces, long[] lengths, int[] crcs) throws IOException {
        List<ReadLease> leases = new ArrayList<>();
        List<ByteBuffer> slices = new ArrayList<>();
        boolean isOverflow = false;
        try {
            for (RemoteRange range : ranges(
                    slabs, entry, firstPiece, pieces, Arrays.stream(lengths).sum())) {
                ReadLease lease = slabs.read(range);
                leases.add(lease);
                slices.add(lease.bytes());
                isOverflow |= slabs.isOverflow(range.slabId());
            }
            return new StoredBlock(slices, lengths, crcs, isOverflow, leases);
        } catch (IOException | RuntimeException e) {
            leases.forEach(ReadLease::close);
            throw e;
        }
    }

    /** The pieces as ranges, neighbours in the same slab merged. */
    private static List<RemoteRange> ranges(SlabAccess slabs, Entry entry, int firstPiece, int pieces, long bytes)
            throws IOException {
        long at = PartitionIndexLayout.bytes(entry.partitions(), firstPiece);
        ByteBuffer table = copy(slabs, indexRange(entry, at, (long) PartitionIndexLayout.PIECE_BYTES * pieces));
        List<RemoteRange> ranges = new ArrayList<>();
        RemoteRange last = null;
        for (RemoteRange piece : PartitionIndexLayout.pieceRanges(table, firstPiece, pieces, bytes, entry)) {
            if (last != null && last.slabId() == piece.slabId() && last.offset() + last.length() == piece.offset()) {
                ranges.remove(ranges.size() - 1);
                last = range(last.slabId(), last.offset(), last.length() + piece.length());
            } else {
                last = piece;
            }
            ranges.add(last);
        }
        return ranges;
    }

    private static RemoteRange range(int slab, long offset, long length) throws TornReadException {
        try {
            return new RemoteRange(slab, offset, length);
        } catch (IllegalArgumentException e) {
            throw new TornReadException("a piece of a map output is " + e.getMessage());
        }
    }

    private static RemoteRange indexRange(Entry entry, long from, long bytes) throws TornReadException {
        if (from > entry.indexLength() - bytes || entry.indexOffset() > Long.MAX_VALUE - entry.indexLength()) {
            throw new TornReadException(
                    "a partition index of " + entry.indexLength() + " bytes ends before byte " + (from + bytes));
        }
        return range(entry.indexSlab(), entry.indexOffset() + from, bytes);
    }
}
