/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.sparkrdma.transport.api.RemoteRange;
import org.sparkrdma.transport.wire.DirectoryEntryLayout.Entry;

class PartitionIndexLayoutTest {
    private static final int PARTITIONS = 4;
    private static final int PIECES = 4;
    private static final int BYTES = (int) PartitionIndexLayout.bytes(PARTITIONS, PIECES);
    private static final Entry ENTRY = new Entry(3, 99, 7, PARTITIONS, 1, 0, BYTES, 3_000_310, true);

    /** Partitions of 100, 0, 3,000,000 (in two pieces) and 210 bytes. */
    private final ByteBuffer index = written(ENTRY);

    @Test
    void whatIsWrittenIsRead() throws TornReadException {
        PartitionIndexLayout.verifyHeader(index, ENTRY);
        ByteBuffer table = partitions(index, 1, 2);
        PartitionIndexLayout.verifyPartitions(table, 1, 2, ENTRY);
        assertEquals(0, PartitionIndexLayout.length(table, 1, 1));
        assertEquals(3_000_000, PartitionIndexLayout.length(table, 1, 2));
        assertEquals(-3, PartitionIndexLayout.crc32c(table, 1, 2));
        assertEquals(1, PartitionIndexLayout.firstPiece(table, 1, 2));
        assertEquals(3, PartitionIndexLayout.firstPiece(table, 1, 3), "closes the last one");

        ByteBuffer pieces = pieces(index, 1, 2);
        assertEquals(
                List.of(new RemoteRange(6, 65536, 1_000_000), new RemoteRange(7, (1 << 30) - 4096, 2_000_000)),
                PartitionIndexLayout.pieceRanges(pieces, 1, 2, 3_000_000, ENTRY));
        assertEquals(6, PartitionIndexLayout.pieceSlab(pieces, 0));
        assertEquals((1 << 30) - 4096, PartitionIndexLayout.pieceSlabOffset(pieces, 1));
        assertEquals(2_000_000, PartitionIndexLayout.pieceLength(pieces, 1));
        assertEquals(List.of(), PartitionIndexLayout.pieceRanges(pieces(index, 1, 0), 1, 0, 0, ENTRY));
        PartitionIndexLayout.verifyPartitions(partitions(index, 0, PARTITIONS), 0, PARTITIONS, ENTRY);
        PartitionIndexLayout.verifyPartitions(partitions(index, PARTITIONS, 0), PARTITIONS, 0, ENTRY);
    }

    @Test
    void anyByteOfTheHeaderThatChangesIsNoticed() {
        for (int at = 0; at < PartitionIndexLayout.HEADER_BYTES; at++) {
            for (int change = 1; change < 256; change++) {
                ByteBuffer damaged = damaged(at, change);
                assertThrows(TornReadException.class, () -> PartitionIndexLayout.verifyHeader(damaged, ENTRY));
            }
        }
    }

    /** The tables' checks are short: they are there for what is stale; what is damaged fails the data's own check too. */
    @Test
    void aByteOfTheTablesThatChangesIsNoticedNearlyAlways() {
        int unnoticed = 0;
        int changes = 0;
        for (int at = PartitionIndexLayout.HEADER_BYTES; at < BYTES; at++) {
            for (int change = 1; change < 256; change++) {
                changes++;
                try {
                    readAll(damaged(at, change), ENTRY);
                    unnoticed++;
                } catch (TornReadException e) {
                    // As it should be.
                }
            }
        }
        assertTrue(unnoticed <= 2, unnoticed + " of " + changes);
    }

    @Test
    void aRecycledIndexIsNotTakenForTheOldOne() {
        ByteBuffer zeros = ByteBuffer.allocate(BYTES);
        for (int partition = 0; partition < PARTITIONS; partition++) {
            int at = partition;
            assertThrows(
                    TornReadException.class,
                    () -> PartitionIndexLayout.verifyPartitions(partitions(zeros, at, 1), at, 1, ENTRY),
                    "zeros are an empty partition with a right crc32c");
        }
        assertThrows(
                TornReadException.class, () -> PartitionIndexLayout.pieceRanges(pieces(zeros, 0, 1), 0, 1, 0, ENTRY));

        int taken = 0;
        for (int generation = 8; generation < 2008; generation++) {
            ByteBuffer next = written(new Entry(3, 99, generation, PARTITIONS, 1, 0, BYTES, 3_000_310, true));
            try {
                PartitionIndexLayout.verifyPartitions(partitions(next, 1, 1), 1, 1, ENTRY);
                taken++;
            } catch (TornReadException e) {
                // As it should be.
            }
            assertThrows(
                    TornReadException.class,
                    () -> PartitionIndexLayout.pieceRanges(pieces(next, 0, 1), 0, 1, 100, ENTRY));
        }
        assertTrue(taken <= 1, taken + " of 2000 later generations");
    }

    @Test
    void anEntryOfAnotherPlaceIsNotTakenForThisOne() {
        assertThrows(
                TornReadException.class,
                () -> PartitionIndexLayout.verifyPartitions(partitions(index, 1, 1), 2, 1, ENTRY));
        assertThrows(
                TornReadException.class, () -> PartitionIndexLayout.pieceRanges(pieces(index, 0, 1), 1, 1, 100, ENTRY));
    }

    @Test
    void tablesThatAreCutOrAskedForTooMuchAreRefused() {
        ByteBuffer all = partitions(index, 0, PARTITIONS);
        for (int[] range :
                new int[][] {{0, 5}, {-1, 1}, {4, 1}, {0, -1}, {1, 4}, {Integer.MAX_VALUE, 1}, {0, Integer.MAX_VALUE}
                }) {
            assertThrows(
                    TornReadException.class,
                    () -> PartitionIndexLayout.verifyPartitions(all, range[0], range[1], ENTRY));
        }
        assertThrows(
                TornReadException.class, () -> PartitionIndexLayout.verifyPartitions(all.slice(0, 31), 0, 1, ENTRY));
        assertThrows(
                TornReadException.class,
                () -> PartitionIndexLayout.pieceRanges(ByteBuffer.allocate(0), 0, Integer.MAX_VALUE, 0, ENTRY),
                "a huge count does not allocate");
        assertThrows(
                TornReadException.class,
                () -> PartitionIndexLayout.pieceRanges(pieces(index, 1, 2), 1, 2, 3_000_001, ENTRY),
                "the pieces do not make up the partition");
    }

    @Test
    void garbageIsRefusedAndNothingElseHappens() {
        Random random = new Random(4);
        for (int round = 0; round < 100_000; round++) {
            byte[] garbage = new byte[random.nextInt(100)];
            random.nextBytes(garbage);
            ByteBuffer table = ByteBuffer.wrap(garbage);
            assertThrows(
                    TornReadException.class,
                    () -> PartitionIndexLayout.verifyPartitions(table, 0, 1 + random.nextInt(3), ENTRY));
            assertThrows(
                    TornReadException.class,
                    () -> PartitionIndexLayout.pieceRanges(table, 0, 1 + random.nextInt(3), 100, ENTRY));
        }
    }

    @Test
    void whatNoReaderWouldTakeIsNotWritten() {
        assertThrows(IllegalArgumentException.class, () -> PartitionIndexLayout.writePartition(index, 0, -1, 0, 0));
        assertThrows(
                IllegalArgumentException.class, () -> PartitionIndexLayout.writePartition(index, 0, 1L << 48, 0, 0));
        assertThrows(
                IllegalArgumentException.class,
                () -> PartitionIndexLayout.writePiece(index, PARTITIONS, 0, 1, 1L << 31, 1));
        assertThrows(
                IllegalArgumentException.class, () -> PartitionIndexLayout.writePiece(index, PARTITIONS, 0, -1, 0, 1));
    }

    @Test
    void partitionsMayBeAsLongAs48Bits() throws TornReadException {
        long longest = (1L << 48) - 1;
        ByteBuffer one = ByteBuffer.allocate((int) PartitionIndexLayout.bytes(1, 0));
        PartitionIndexLayout.writePartition(one, 0, longest, 0, 0);
        PartitionIndexLayout.writePartition(one, 1, 0, 0, 0);
        assertEquals(longest, PartitionIndexLayout.length(partitions(one, 0, 1), 0, 0), "before the header");
        PartitionIndexLayout.writeHeader(one, 1, 1, -1, 1, 0);
        assertEquals(longest, PartitionIndexLayout.length(partitions(one, 0, 1), 0, 0), "after the header");
        PartitionIndexLayout.verifyPartitions(
                partitions(one, 0, 1), 0, 1, new Entry(1, 1, -1, 1, 1, 0, one.capacity(), longest, true));
    }

    private static void readAll(ByteBuffer index, Entry entry) throws TornReadException {
        ByteBuffer table = partitions(index, 0, PARTITIONS);
        PartitionIndexLayout.verifyPartitions(table, 0, PARTITIONS, entry);
        int pieces = PartitionIndexLayout.firstPiece(table, 0, PARTITIONS);
        PartitionIndexLayout.pieceRanges(pieces(index, 0, pieces), 0, pieces, entry.dataBytes(), entry);
    }

    private static ByteBuffer written(Entry entry) {
        ByteBuffer index = ByteBuffer.allocate(BYTES);
        PartitionIndexLayout.writePartition(index, 0, 100, -1, 0);
        PartitionIndexLayout.writePartition(index, 1, 0, 0, 1);
        PartitionIndexLayout.writePartition(index, 2, 3_000_000, -3, 1);
        PartitionIndexLayout.writePartition(index, 3, 210, -4, 3);
        PartitionIndexLayout.writePartition(index, 4, 0, 0, 4);
        PartitionIndexLayout.writePiece(index, PARTITIONS, 0, 5, 0, 100);
        PartitionIndexLayout.writePiece(index, PARTITIONS, 1, 6, 65536, 1_000_000);
        PartitionIndexLayout.writePiece(index, PARTITIONS, 2, 7, (1 << 30) - 4096, 2_000_000);
        PartitionIndexLayout.writePiece(index, PARTITIONS, 3, 7, 0, 210);
        PartitionIndexLayout.writeHeader(
                index, entry.shuffleId(), entry.mapId(), entry.generation(), PARTITIONS, PIECES);
        return index;
    }

    private ByteBuffer damaged(int at, int change) {
        ByteBuffer copy = ByteBuffer.allocate(BYTES).put(0, index, 0, BYTES);
        return copy.put(at, (byte) (copy.get(at) ^ change));
    }

    private static ByteBuffer partitions(ByteBuffer index, int first, int count) {
        return index.slice(
                PartitionIndexLayout.partitionOffset(first), (count + 1) * PartitionIndexLayout.PARTITION_BYTES);
    }

    private static ByteBuffer pieces(ByteBuffer index, int first, int count) {
        return index.slice(
                PartitionIndexLayout.pieceOffset(PARTITIONS, first), count * PartitionIndexLayout.PIECE_BYTES);
    }
}
