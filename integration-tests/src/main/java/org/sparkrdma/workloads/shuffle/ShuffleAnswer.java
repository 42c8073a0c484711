/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.shuffle;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What a {@link ShuffleJob} computes over its rows, each an id and a payload made from the id. Whoever knows how many
 * rows there are knows the answer.
 *
 * @param rows how many
 * @param sum of all ids
 * @param mix exclusive or over the ids, scrambled
 * @param damaged rows whose payload is not the one of their id
 */
public record ShuffleAnswer(long rows, long sum, long mix, long damaged) {
    /** Over no rows. */
    public static final ShuffleAnswer NONE = new ShuffleAnswer(0, 0, 0, 0);

    /** The right answer for ids 0 to {@code rows} - 1. */
    public static ShuffleAnswer expected(long rows) {
        long mix = 0;
        for (long id = 0; id < rows; id++) {
            mix ^= scramble(id);
        }
        return new ShuffleAnswer(rows, rows * (rows - 1) / 2, mix, 0);
    }

    /** As tasks send it to the driver: Kryo knows no records. */
    long[] toLongs() {
        return new long[] {rows, sum, mix, damaged};
    }

    static ShuffleAnswer ofLongs(long[] longs) {
        return new ShuffleAnswer(longs[0], longs[1], longs[2], longs[3]);
    }

    /** The payload of a row: bytes that no codec makes smaller. */
    static byte[] payload(long id, int width) {
        ByteBuffer bytes = ByteBuffer.allocate(width).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; bytes.remaining() >= Long.BYTES; i++) {
            bytes.putLong(scramble((id << Short.SIZE) + i));
        }
        while (bytes.hasRemaining()) {
            bytes.put((byte) id);
        }
        return bytes.array();
    }

    /** With one more row. */
    ShuffleAnswer with(long id, byte[] payload) {
        boolean isWhole = java.util.Arrays.equals(payload, payload(id, payload.length));
        return new ShuffleAnswer(rows + 1, sum + id, mix ^ scramble(id), damaged + (isWhole ? 0 : 1));
    }

    ShuffleAnswer plus(ShuffleAnswer other) {
        return new ShuffleAnswer(rows + other.rows, sum + other.sum, mix ^ other.mix, damaged + other.damaged);
    }

    private static long scramble(long value) {
        long mixed = (value + 0x9E3779B97F4A7C15L) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 31)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 29);
    }
}
