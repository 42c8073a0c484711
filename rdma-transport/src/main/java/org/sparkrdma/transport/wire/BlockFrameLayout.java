/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

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
 * The header's check covers everything before and after it up to the block's bytes.
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
    private static final int VERSION_AT = 4;
    private static final int FLAGS_AT = 6;
    private static final int COUNT_AT = 8;
    private static final int CRC_AT = 12;

    private BlockFrameLayout() {}

    /** Bytes before the block's own. */
    public static int headerBytes(int partitions) {
        return FIXED_BYTES + PARTITION_BYTES * partitions;
    }

    /** Encodes a header; the answer is ready to be read. */
    public static ByteBuffer encode(long[] lengths, int[] crcs, boolean isOverflow) {
        ByteBuffer header = ByteBuffer.allocate(headerBytes(lengths.length)).order(ByteOrder.LITTLE_ENDIAN);
        header.putInt(0, MAGIC);
        header.putShort(VERSION_AT, (short) VERSION);
        header.putShort(FLAGS_AT, (short) (isOverflow ? FLAG_OVERFLOW : 0));
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

    /** Verifies the check of a whole header. */
    public static void verify(ByteBuffer header) throws TornReadException {
        int bytes = headerBytes(partitions(header));
        ByteBuffer copy = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        copy.put(0, header, 0, bytes);
        int crc = copy.getInt(CRC_AT);
        copy.putInt(CRC_AT, 0);
        if (crc != Crc32c.of(copy)) {
            throw new TornReadException("a block frame's header does not match its check");
        }
    }

    /** Whether the block lay in an overflow file. */
    public static boolean isOverflow(ByteBuffer header) {
        return (header.duplicate().order(ByteOrder.LITTLE_ENDIAN).getShort(FLAGS_AT) & FLAG_OVERFLOW) != 0;
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
