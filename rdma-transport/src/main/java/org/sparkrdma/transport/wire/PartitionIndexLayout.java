/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.transport.api.RemoteRange;

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
 *   +-----------+-----+--------+--------+
 *   | length (6)|check| crc32c | piece  |   first piece; the pieces end where those of p + 1 start
 *   +-----------+-----+--------+--------+
 *
 *   piece i, 16 B, at 64 + 16 (partitions + 1) + 16 i
 *   +--------+--------+--------+--------+
 *   | offset | check  | slab   | length |   offset in the slab
 *   +--------+--------+--------+--------+
 * </pre>
 *
 * The header's check covers the header. Each entry of the tables carries a short check of itself, its place and the
 * generation: a reader that was so slow that the index was recycled under it finds that out, even if what it reads is
 * zeros (an empty partition's length and crc32c) or another map output's index, whose data would match its crc32c.
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
    private static final int LENGTH_BITS = 48;
    private static final long LENGTH_MASK = (1L << LENGTH_BITS) - 1;
    private static final long OFFSET_MASK = 0xFFFF_FFFFL;

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

    /**
     * Writes the header, after the tables, and puts the checks into the tables.
     *
     * @param index the whole index
     */
    public static void writeHeader(
            ByteBuffer index, int shuffleId, long mapId, int generation, int partitions, int pieces) {
        ByteBuffer header = little(index);
        for (int partition = 0; partition <= partitions; partition++) {
            int at = partitionOffset(partition);
            long length = header.getLong(at) & LENGTH_MASK;
            header.putLong(at, length | partitionCheck(header, at, generation, partition) << LENGTH_BITS);
        }
        for (int piece = 0; piece < pieces; piece++) {
            int at = pieceOffset(partitions, piece);
            header.putInt(at + 4, pieceCheck(header, at, generation, piece));
        }
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
        if (length < 0 || length > LENGTH_MASK) {
            throw new IllegalArgumentException("a partition of " + length + " bytes");
        }
        ByteBuffer table = little(index);
        int at = partitionOffset(partition);
        table.putLong(at, length);
        table.putInt(at + 8, crc32c);
        table.putInt(at + 12, firstPiece);
    }

    /** Writes a piece's entry. */
    public static void writePiece(ByteBuffer index, int partitions, int piece, int slabId, long offset, int length) {
        if (slabId < 0 || offset < 0 || offset > Integer.MAX_VALUE || length < 0) {
            throw new IllegalArgumentException("a piece of " + length + " bytes at " + offset + " of slab " + slabId);
        }
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
            throw new TornReadException(
                    "the partition index of " + name(entry) + " is not the one that its directory entry points to");
        }
    }

    /**
     * Checks a part of the partition table, once it is read: only then may it be asked for lengths, checks and pieces.
     *
     * @param table entries of the partitions from {@code first} on, and one more that closes the last
     * @param first first partition of the table
     * @param count partitions, the closing entry not counted
     * @throws TornReadException if an entry is not the one that was written for this map output
     */
    public static void verifyPartitions(ByteBuffer table, int first, int count, DirectoryEntryLayout.Entry entry)
            throws TornReadException {
        ByteBuffer view = little(table);
        long mostPieces = (entry.indexLength() - bytes(entry.partitions(), 0)) / PIECE_BYTES;
        boolean holds = first >= 0
                && count >= 0
                && count <= entry.partitions() - first
                && view.limit() >= (count + 1L) * PARTITION_BYTES;
        int piece = 0;
        for (int i = 0; holds && i <= count; i++) {
            int at = i * PARTITION_BYTES;
            int next = view.getInt(at + 12);
            holds = view.getLong(at) >>> LENGTH_BITS == partitionCheck(view, at, entry.generation(), first + i)
                    && next >= piece
                    && next <= mostPieces;
            piece = next;
        }
        if (!holds) {
            throw new TornReadException("the partition table of " + name(entry) + " does not match its checks from"
                    + " partition " + first + " to " + (first + (long) count));
        }
    }

    /**
     * The ranges of a part of the piece table, checked.
     *
     * @param table entries of the pieces from {@code firstPiece} on
     * @param bytes what the ranges must add up to: the lengths of the partitions that they make up
     * @throws TornReadException if an entry is not the one that was written for this map output
     */
    public static List<RemoteRange> pieceRanges(
            ByteBuffer table, int firstPiece, int count, long bytes, DirectoryEntryLayout.Entry entry)
            throws TornReadException {
        ByteBuffer view = little(table);
        if (firstPiece < 0 || count < 0 || view.limit() < (long) count * PIECE_BYTES) {
            throw new TornReadException("the piece table of " + name(entry) + " is cut short");
        }
        List<RemoteRange> ranges = new ArrayList<>(count);
        long sum = 0;
        for (int i = 0; i < count; i++) {
            int at = i * PIECE_BYTES;
            int slab = view.getInt(at + 8);
            long offset = view.getInt(at);
            int length = view.getInt(at + 12);
            if (view.getInt(at + 4) != pieceCheck(view, at, entry.generation(), firstPiece + i)
                    || slab < 0
                    || offset < 0
                    || length < 0) {
                throw new TornReadException(
                        "piece " + (firstPiece + (long) i) + " of " + name(entry) + " does not match its check");
            }
            ranges.add(new RemoteRange(slab, offset, length));
            sum += length;
        }
        if (sum != bytes) {
            throw new TornReadException("the pieces of " + name(entry) + " have " + sum + " bytes, not " + bytes);
        }
        return ranges;
    }

    /** Length of a partition in a table that starts at partition {@code first}. */
    public static long length(ByteBuffer table, int first, int partition) {
        return little(table).getLong((partition - first) * PARTITION_BYTES) & LENGTH_MASK;
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
        return little(table).getLong(i * PIECE_BYTES) & OFFSET_MASK;
    }

    /** Slab of the i-th piece of a table of pieces. */
    public static int pieceSlab(ByteBuffer table, int i) {
        return little(table).getInt(i * PIECE_BYTES + 8);
    }

    /** Length of the i-th piece of a table of pieces, bytes. */
    public static int pieceLength(ByteBuffer table, int i) {
        return little(table).getInt(i * PIECE_BYTES + 12);
    }

    private static String name(DirectoryEntryLayout.Entry entry) {
        return "map " + entry.mapId() + " of shuffle " + entry.shuffleId();
    }

    private static long partitionCheck(ByteBuffer table, int at, int generation, int partition) {
        long check = mix(mix(table.getLong(at) & LENGTH_MASK, table.getLong(at + 8)), place(generation, partition));
        return check >>> LENGTH_BITS;
    }

    private static int pieceCheck(ByteBuffer table, int at, int generation, int piece) {
        return (int) (mix(mix(table.getInt(at), table.getLong(at + 8)), place(generation, piece)) >>> 32);
    }

    private static long place(int generation, int i) {
        return (long) generation << 32 | (i & 0xFFFF_FFFFL);
    }

    /** Spreads the bits of both over the upper bits of the answer. */
    private static long mix(long a, long b) {
        long h = (a ^ Long.rotateLeft(b * 0x9E37_79B9_7F4A_7C15L, 29)) * 0xBF58_476D_1CE4_E5B9L;
        h = (h ^ h >>> 27) * 0x94D0_49BB_1331_11EBL;
        return h ^ h >>> 31;
    }

    private static ByteBuffer little(ByteBuffer buffer) {
        return buffer.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    }
}
