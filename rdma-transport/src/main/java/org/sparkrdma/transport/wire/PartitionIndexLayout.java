/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The index of one map output: for each partition its length, its check and its pieces. It lies in a slab beside the
 * data, so that one READ of a run of partitions, and one of their pieces, says where the bytes are. Little-endian.
 *
 * <pre>
 *   header, 64 B
 *   0        8        12       16       20       24                32       36             60       64
 *   +--------+--------+--------+--------+--------+-----------------+--------+--------------+--------+
 *   | magic  |version | parts  | pieces | shuffle| map id          | gener. | reserved     | crc32c |
 *   +--------+--------+--------+--------+--------+-----------------+--------+--------------+--------+
 *
 *   partition p, 16 B, at 64 + 16 p; one more than there are partitions closes the last one
 *   +-----------------+--------+--------+
 *   | length          | crc32c | piece  |   first piece; the pieces end where those of p + 1 start
 *   +-----------------+--------+--------+
 *
 *   piece i, 16 B, at 64 + 16 (partitions + 1) + 16 i
 *   +-----------------+--------+--------+
 *   | offset in slab  | slab   | length |
 *   +-----------------+--------+--------+
 * </pre>
 *
 * The header's check covers the header, the tables are covered by the data's own checks: a wrong piece gives wrong
 * bytes.
 */
public final class PartitionIndexLayout {
    /** Bytes of the header. */
    public static final int HEADER_BYTES = 64;
    /** Bytes of a partition's entry. */
    public static final int PARTITION_BYTES = 16;
    /** Bytes of a piece's entry. */
    public static final int PIECE_BYTES = 16;

    private static final long MAGIC = 0x5844_4E49_4D44_5253L;
    private static final int VERSION_AT = 8;
    private static final int PARTITIONS_AT = 12;
    private static final int PIECES_AT = 16;
    private static final int SHUFFLE_AT = 20;
    private static final int MAP_AT = 24;
    private static final int GENERATION_AT = 32;
    private static final int CRC_AT = 60;

    private PartitionIndexLayout() {}

    /** Bytes of an index. */
    public static long bytes(int partitions, int pieces) {
        return HEADER_BYTES + (long) PARTITION_BYTES * (partitions + 1L) + (long) PIECE_BYTES * pieces;
    }

    /** Offset of a partition's entry; the entry behind the last one closes it. */
    public static int partitionOffset(int partition) {
        return HEADER_BYTES + PARTITION_BYTES * partition;
    }

    /** Offset of a piece's entry. */
    public static int pieceOffset(int partitions, int piece) {
        return HEADER_BYTES + PARTITION_BYTES * (partitions + 1) + PIECE_BYTES * piece;
    }

    /** Writes the header, after the tables. */
    public static void writeHeader(
            ByteBuffer index, int shuffleId, long mapId, int generation, int partitions, int pieces) {
        ByteBuffer header = little(index);
        header.putLong(0, MAGIC);
        header.putInt(VERSION_AT, DirectoryLayout.VERSION);
        header.putInt(PARTITIONS_AT, partitions);
        header.putInt(PIECES_AT, pieces);
        header.putInt(SHUFFLE_AT, shuffleId);
        header.putLong(MAP_AT, mapId);
        header.putInt(GENERATION_AT, generation);
        for (int at = GENERATION_AT + 4; at < CRC_AT; at += 4) {
            header.putInt(at, 0);
        }
        header.putInt(CRC_AT, Crc32c.of(header, 0, CRC_AT));
    }

    /** Writes a partition's entry. */
    public static void writePartition(ByteBuffer index, int partition, long length, int crc32c, int firstPiece) {
        ByteBuffer table = little(index);
        int at = partitionOffset(partition);
        table.putLong(at, length);
        table.putInt(at + 8, crc32c);
        table.putInt(at + 12, firstPiece);
    }

    /** Writes a piece's entry. */
    public static void writePiece(ByteBuffer index, int partitions, int piece, int slabId, long offset, int length) {
        ByteBuffer table = little(index);
        int at = pieceOffset(partitions, piece);
        table.putLong(at, offset);
        table.putInt(at + 8, slabId);
        table.putInt(at + 12, length);
    }

    /**
     * Checks that an index is that of a directory entry.
     *
     * @param header at least the header
     * @throws TornReadException if it is not: it was recycled, or it is damaged
     */
    public static void verifyHeader(ByteBuffer header, DirectoryEntryLayout.Entry entry) throws TornReadException {
        ByteBuffer view = little(header);
        boolean matches = view.getLong(0) == MAGIC
                && view.getInt(VERSION_AT) == DirectoryLayout.VERSION
                && view.getInt(PARTITIONS_AT) == entry.partitions()
                && view.getInt(SHUFFLE_AT) == entry.shuffleId()
                && view.getLong(MAP_AT) == entry.mapId()
                && view.getInt(GENERATION_AT) == entry.generation()
                && view.getInt(CRC_AT) == Crc32c.of(view, 0, CRC_AT);
        if (!matches) {
            throw new TornReadException("the partition index of map " + entry.mapId() + " of shuffle "
                    + entry.shuffleId() + " is not the one that its directory entry points to");
        }
    }

    /** Length of a partition in a table that starts at partition {@code first}. */
    public static long length(ByteBuffer table, int first, int partition) {
        return little(table).getLong((partition - first) * PARTITION_BYTES);
    }

    /** Check of a partition in a table that starts at partition {@code first}. */
    public static int crc32c(ByteBuffer table, int first, int partition) {
        return little(table).getInt((partition - first) * PARTITION_BYTES + 8);
    }

    /** First piece of a partition in a table that starts at partition {@code first}. */
    public static int firstPiece(ByteBuffer table, int first, int partition) {
        return little(table).getInt((partition - first) * PARTITION_BYTES + 12);
    }

    /** Offset in its slab of the i-th piece of a table of pieces. */
    public static long pieceSlabOffset(ByteBuffer table, int i) {
        return little(table).getLong(i * PIECE_BYTES);
    }

    /** Slab of the i-th piece of a table of pieces. */
    public static int pieceSlab(ByteBuffer table, int i) {
        return little(table).getInt(i * PIECE_BYTES + 8);
    }

    /** Length of the i-th piece of a table of pieces, bytes. */
    public static int pieceLength(ByteBuffer table, int i) {
        return little(table).getInt(i * PIECE_BYTES + 12);
    }

    private static ByteBuffer little(ByteBuffer buffer) {
        return buffer.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    }
}
