/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.catalog;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
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
        long[] lengths = new long[count];
        int[] crcs = new int[count];
        int firstPiece;
        int pieces;
        try (ReadLease header = slabs.read(indexRange(entry, 0, PartitionIndexLayout.HEADER_BYTES));
                ReadLease table = slabs.read(indexRange(
                        entry,
                        PartitionIndexLayout.partitionOffset(start),
                        PartitionIndexLayout.PARTITION_BYTES * (count + 1L)))) {
            PartitionIndexLayout.verifyHeader(header.bytes(), entry);
            ByteBuffer partitions = table.bytes();
            for (int i = 0; i < count; i++) {
                lengths[i] = PartitionIndexLayout.length(partitions, start, start + i);
                crcs[i] = PartitionIndexLayout.crc32c(partitions, start, start + i);
            }
            firstPiece = PartitionIndexLayout.firstPiece(partitions, start, start);
            pieces = PartitionIndexLayout.firstPiece(partitions, start, end) - firstPiece;
        }
        return readPieces(slabs, entry, firstPiece, pieces, lengths, crcs);
    }

    private static StoredBlock readPieces(
            SlabAccess slabs, Entry entry, int firstPiece, int pieces, long[] lengths, int[] crcs) throws IOException {
        List<ReadLease> leases = new ArrayList<>(pieces > 0 && pieces < 1024 ? pieces : 8);
        List<ByteBuffer> slices = new ArrayList<>();
        boolean isOverflow = false;
        long found = 0;
        try {
            if (pieces < 0 || firstPiece < 0) {
                throw new TornReadException("a partition table counts " + pieces + " pieces from " + firstPiece);
            }
            if (pieces > 0) {
                long at = PartitionIndexLayout.pieceOffset(entry.partitions(), firstPiece);
                try (ReadLease table =
                        slabs.read(indexRange(entry, at, (long) PartitionIndexLayout.PIECE_BYTES * pieces))) {
                    List<RemoteRange> ranges = ranges(table.bytes(), pieces);
                    for (RemoteRange range : ranges) {
                        ReadLease lease = slabs.read(range);
                        leases.add(lease);
                        slices.add(lease.bytes());
                        isOverflow |= slabs.isOverflow(range.slabId());
                        found += range.length();
                    }
                }
            }
            StoredBlock block = new StoredBlock(slices, lengths, crcs, isOverflow, leases);
            if (found != block.bytes()) {
                throw new TornReadException("pieces of " + found + " bytes were found for partitions of "
                        + block.bytes() + " bytes of map " + entry.mapId() + " of shuffle " + entry.shuffleId());
            }
            return block;
        } catch (IOException | RuntimeException e) {
            leases.forEach(ReadLease::close);
            throw e;
        }
    }

    /** The pieces as ranges, neighbours in the same slab merged. */
    private static List<RemoteRange> ranges(ByteBuffer table, int pieces) throws TornReadException {
        List<RemoteRange> ranges = new ArrayList<>();
        RemoteRange last = null;
        for (int i = 0; i < pieces; i++) {
            int slab = PartitionIndexLayout.pieceSlab(table, i);
            long offset = PartitionIndexLayout.pieceSlabOffset(table, i);
            int length = PartitionIndexLayout.pieceLength(table, i);
            if (last != null && last.slabId() == slab && last.offset() + last.length() == offset) {
                ranges.remove(ranges.size() - 1);
                offset = last.offset();
                last = range(slab, offset, last.length() + length);
            } else {
                last = range(slab, offset, length);
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
        if (from + bytes > entry.indexLength()) {
            throw new TornReadException(
                    "a partition index of " + entry.indexLength() + " bytes ends before byte " + (from + bytes));
        }
        return range(entry.indexSlab(), entry.indexOffset() + from, bytes);
    }
}
