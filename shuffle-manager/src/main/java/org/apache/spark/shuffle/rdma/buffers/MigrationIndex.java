/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.buffers;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The index that goes with a map output when it migrates to another executor: Spark's own index file, big-endian, with
 * a trailer that Spark does not look at.
 *
 * <pre>
 *   0                          8 (n + 1)    + 4     + 4 n
 *   +--------------------------+---------+---------+
 *   | offset 0 ... offset n    | magic   | crc32c  |   one check per partition; the magic tells raw from other bytes
 *   +--------------------------+---------+---------+
 * </pre>
 *
 * @param lengths length of each partition, bytes
 * @param crcs CRC32C of each partition; empty if the sender gave none
 * @param isRaw whether the bytes are the serializer's own, neither compressed nor encrypted
 */
public record MigrationIndex(long[] lengths, int[] crcs, boolean isRaw) {
    private static final int MAGIC = 0x5244_4331;
    private static final int RAW_MAGIC = 0x5244_4332;

    /** The index of bytes that are not raw. */
    public MigrationIndex(long[] lengths, int[] crcs) {
        this(lengths, crcs, false);
    }

    /** Encodes the index; the answer is ready to be read. */
    public ByteBuffer encode() {
        ByteBuffer index = ByteBuffer.allocate(8 * (lengths.length + 1) + 4 + 4 * crcs.length);
        long offset = 0;
        index.putLong(offset);
        for (long length : lengths) {
            offset += length;
            index.putLong(offset);
        }
        index.putInt(isRaw ? RAW_MAGIC : MAGIC);
        for (int crc : crcs) {
            index.putInt(crc);
        }
        return index.flip();
    }

    /** Decodes an index, with or without the trailer. */
    public static MigrationIndex decode(ByteBuffer encoded) throws IOException {
        ByteBuffer index = encoded.duplicate();
        int bytes = index.remaining();
        // n + 1 offsets of 8 bytes, a magic of 4 and n checks of 4: 12 (n + 1); without the trailer 8 (n + 1).
        int magic = bytes >= 12 && bytes % 12 == 0 ? index.getInt(index.position() + bytes / 12 * 8) : 0;
        boolean hasTrailer = magic == MAGIC || magic == RAW_MAGIC;
        if (bytes < 8 || (!hasTrailer && bytes % 8 != 0)) {
            throw new IOException("an index of a map output has " + bytes + " bytes");
        }
        int partitions = (hasTrailer ? bytes / 12 : bytes / 8) - 1;
        long[] lengths = new long[partitions];
        long offset = index.getLong();
        for (int partition = 0; partition < partitions; partition++) {
            long next = index.getLong();
            lengths[partition] = next - offset;
            if (offset < 0 || lengths[partition] < 0) {
                throw new IOException("offset " + next + " follows offset " + offset + " in an index of a map output");
            }
            offset = next;
        }
        int[] crcs = new int[hasTrailer ? partitions : 0];
        if (hasTrailer) {
            index.getInt();
            for (int partition = 0; partition < partitions; partition++) {
                crcs[partition] = index.getInt();
            }
        }
        return new MigrationIndex(lengths, crcs, magic == RAW_MAGIC);
    }
}
