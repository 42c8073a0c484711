/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * What goes before a block's bytes when it travels by Spark's own block transfer between two executors of this plugin:
 * the block's partitions with their lengths and checks, so that the reader verifies the bytes as on every other path.
 * Little-endian.
 *
 * <pre>
 *   0        4        6        8        12       16       16 + 16 n
 *   +--------+--------+--------+--------+--------+--------+----------------
 *   | magic  |version | flags  | n      | crc32c |partitions| the block's bytes
 *   +--------+--------+--------+--------+--------+--------+----------------
 *
 *   partition, 16 B
 *   +-----------------+--------+--------+
 *   | length          | crc32c | 0      |
 *   +-----------------+--------+--------+
 * </pre>
 *
 * The header's check covers everything before and after it up to the block's bytes; while it is computed it is 0.
 */
public final class BlockFrameLayout {
    /** Version of this layout. */
    public static final int VERSION = 1;
    /** Bytes before the first partition. */
    public static final int FIXED_BYTES = 16;
    /** Bytes of a partition's entry. */
    public static final int PARTITION_BYTES = 16;
    /** Most partitions of a frame, as a bound for what a reader allocates. */
    public static final int MAX_PARTITIONS = 1 << 24;

    private static final int MAGIC = 0x4652_4D31;
    private static final int FLAG_OVERFLOW = 1;
    private static final int FLAG_RAW = 2;
    private static final int VERSION_AT = 4;
    private static final int FLAGS_AT = 6;
    private static final int COUNT_AT = 8;
    private static final int CRC_AT = 12;

    private BlockFrameLayout() {}

    /** Bytes before the block's own. */
    public static int headerBytes(int partitions) {
        return FIXED_BYTES + PARTITION_BYTES * partitions;
    }

    /**
     * Encodes a header; the answer is ready to be read.
     *
     * @param lengths length of each partition as sent, bytes
     * @param crcs CRC32C of each partition as sent
     * @param isOverflow whether the block lay in an overflow file
     * @param isRaw whether the bytes are the serializer's own, neither compressed nor encrypted
     */
    public static ByteBuffer encode(long[] lengths, int[] crcs, boolean isOverflow, boolean isRaw) {
        if (lengths.length < 1 || lengths.length > MAX_PARTITIONS || crcs.length != lengths.length) {
            throw new IllegalArgumentException("a block frame of " + lengths.length + " partitions and " + crcs.length
                    + " checks, at most " + MAX_PARTITIONS);
        }
        ByteBuffer header = ByteBuffer.allocate(headerBytes(lengths.length)).order(ByteOrder.LITTLE_ENDIAN);
        header.putInt(0, MAGIC);
        header.putShort(VERSION_AT, (short) VERSION);
        header.putShort(FLAGS_AT, (short) ((isOverflow ? FLAG_OVERFLOW : 0) | (isRaw ? FLAG_RAW : 0)));
        header.putInt(COUNT_AT, lengths.length);
        for (int i = 0; i < lengths.length; i++) {
            header.putLong(FIXED_BYTES + i * PARTITION_BYTES, lengths[i]);
            header.putInt(FIXED_BYTES + i * PARTITION_BYTES + 8, crcs[i]);
        }
        header.putInt(CRC_AT, Crc32c.of(header));
        return header;
    }

    /**
     * Partitions of a frame, read from its first {@link #FIXED_BYTES}.
     *
     * @throws TornReadException if this is no frame of a version that this process reads
     */
    public static int partitions(ByteBuffer fixed) throws TornReadException {
        if (fixed.limit() < FIXED_BYTES) {
            throw new TornReadException("a block frame of " + fixed.limit() + " bytes is too short");
        }
        ByteBuffer header = fixed.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        int count = header.getInt(COUNT_AT);
        if (header.getInt(0) != MAGIC || header.getShort(VERSION_AT) != VERSION) {
            throw new TornReadException("what the peer sent is not a block frame of version " + VERSION);
        }
        if (count < 1 || count > MAX_PARTITIONS) {
            throw new TornReadException("a block frame counts " + count + " partitions");
        }
        return count;
    }

    /**
     * Verifies a whole header. Only a header that passed may be asked for its lengths and checks.
     *
     * @throws TornReadException if it is cut short, does not match its check, or holds a negative length
     */
    public static void verify(ByteBuffer header) throws TornReadException {
        int partitions = partitions(header);
        int bytes = headerBytes(partitions);
        if (header.limit() < bytes) {
            throw new TornReadException("a block frame's header has " + header.limit() + " of its " + bytes + " bytes");
        }
        CRC32C crc = new CRC32C();
        crc.update(header.slice(0, CRC_AT));
        crc.update(new byte[Integer.BYTES]);
        crc.update(header.slice(FIXED_BYTES, bytes - FIXED_BYTES));
        if ((int) crc.getValue()
                != header.duplicate().order(ByteOrder.LITTLE_ENDIAN).getInt(CRC_AT)) {
            throw new TornReadException("a block frame's header does not match its check");
        }
        for (int i = 0; i < partitions; i++) {
            if (length(header, i) < 0) {
                throw new TornReadException("a block frame's partition " + i + " has " + length(header, i) + " bytes");
            }
        }
    }

    /** Whether the block lay in an overflow file. */
    public static boolean isOverflow(ByteBuffer header) {
        return (header.duplicate().order(ByteOrder.LITTLE_ENDIAN).getShort(FLAGS_AT) & FLAG_OVERFLOW) != 0;
    }

    /** Whether the bytes are the serializer's own, neither compressed nor encrypted. */
    public static boolean isRaw(ByteBuffer header) {
        return (header.duplicate().order(ByteOrder.LITTLE_ENDIAN).getShort(FLAGS_AT) & FLAG_RAW) != 0;
    }

    /** Length of the i-th partition. */
    public static long length(ByteBuffer header, int i) {
        return header.duplicate().order(ByteOrder.LITTLE_ENDIAN).getLong(FIXED_BYTES + i * PARTITION_BYTES);
    }

    /** Check of the i-th partition. */
    public static int crc32c(ByteBuffer header, int i) {
        return header.duplicate().order(ByteOrder.LITTLE_ENDIAN).getInt(FIXED_BYTES + i * PARTITION_BYTES + 8);
    }
}
