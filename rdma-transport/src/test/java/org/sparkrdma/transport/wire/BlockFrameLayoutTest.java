/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.junit.jupiter.api.Test;

class BlockFrameLayoutTest {
    private static final long[] LENGTHS = {0, 1, 1L << 40, Long.MAX_VALUE};
    private static final int[] CRCS = {0, -1, 42, Integer.MIN_VALUE};

    @Test
    void whatIsEncodedIsRead() throws TornReadException {
        for (int flags = 0; flags < 4; flags++) {
            boolean isOverflow = (flags & 1) != 0;
            boolean isRaw = (flags & 2) != 0;
            ByteBuffer header = BlockFrameLayout.encode(LENGTHS, CRCS, isOverflow, isRaw);
            assertEquals(BlockFrameLayout.headerBytes(4), header.remaining());
            assertEquals(4, BlockFrameLayout.partitions(header.slice(0, BlockFrameLayout.FIXED_BYTES)));
            BlockFrameLayout.verify(header);
            BlockFrameLayout.verify(header.asReadOnlyBuffer());
            assertEquals(isOverflow, BlockFrameLayout.isOverflow(header));
            assertEquals(isRaw, BlockFrameLayout.isRaw(header));
            for (int i = 0; i < 4; i++) {
                assertEquals(LENGTHS[i], BlockFrameLayout.length(header, i));
                assertEquals(CRCS[i], BlockFrameLayout.crc32c(header, i));
            }
        }
    }

    @Test
    void anyByteThatChangesIsNoticed() {
        ByteBuffer good = BlockFrameLayout.encode(LENGTHS, CRCS, false, true);
        for (int at = 0; at < good.capacity(); at++) {
            for (int change = 1; change < 256; change++) {
                ByteBuffer damaged = copy(good);
                damaged.put(at, (byte) (damaged.get(at) ^ change));
                assertThrows(TornReadException.class, () -> BlockFrameLayout.verify(damaged), "byte " + at);
            }
        }
    }

    @Test
    void anyCutIsNoticed() {
        ByteBuffer good = BlockFrameLayout.encode(LENGTHS, CRCS, false, true);
        for (int length = 0; length < good.capacity(); length++) {
            ByteBuffer cut = good.slice(0, length);
            assertThrows(TornReadException.class, () -> BlockFrameLayout.verify(cut));
        }
        assertThrows(TornReadException.class, () -> BlockFrameLayout.partitions(good.slice(0, 15)));
    }

    @Test
    void garbageIsRefusedAndNothingElseHappens() {
        Random random = new Random(3);
        ByteBuffer good = BlockFrameLayout.encode(LENGTHS, CRCS, false, true);
        for (int round = 0; round < 100_000; round++) {
            byte[] garbage = new byte[random.nextInt(200)];
            random.nextBytes(garbage);
            // Half of it with the right magic and version, so that counts and lengths are looked at.
            if (round % 2 == 0 && garbage.length >= 6) {
                good.get(0, garbage, 0, 6);
            }
            assertThrows(TornReadException.class, () -> BlockFrameLayout.verify(ByteBuffer.wrap(garbage)));
        }
    }

    @Test
    void hugeCountsAreRefusedWithoutAllocating() {
        ByteBuffer header = copy(BlockFrameLayout.encode(LENGTHS, CRCS, false, true));
        for (int count : new int[] {BlockFrameLayout.MAX_PARTITIONS + 1, Integer.MAX_VALUE, -1, 0}) {
            header.putInt(8, count);
            assertThrows(TornReadException.class, () -> BlockFrameLayout.partitions(header));
        }
        header.putInt(8, BlockFrameLayout.MAX_PARTITIONS);
        String message = assertThrows(TornReadException.class, () -> BlockFrameLayout.verify(header))
                .getMessage();
        assertTrue(message.contains("has " + header.capacity() + " of its"), message);
        assertTrue(BlockFrameLayout.headerBytes(BlockFrameLayout.MAX_PARTITIONS) > 0);
    }

    @Test
    void negativeLengthsAreRefusedThoughTheirCheckIsRight() {
        ByteBuffer header = BlockFrameLayout.encode(new long[] {-1}, new int[] {0}, false, false);
        assertThrows(TornReadException.class, () -> BlockFrameLayout.verify(header));
    }

    @Test
    void framesThatNobodyCouldReadAreNotEncoded() {
        assertThrows(
                IllegalArgumentException.class, () -> BlockFrameLayout.encode(new long[0], new int[0], false, false));
        assertThrows(
                IllegalArgumentException.class, () -> BlockFrameLayout.encode(new long[2], new int[1], false, false));
        assertFalse(BlockFrameLayout.isOverflow(BlockFrameLayout.encode(new long[1], new int[1], false, false)));
    }

    private static ByteBuffer copy(ByteBuffer header) {
        return ByteBuffer.allocate(header.capacity())
                .put(header.duplicate())
                .flip()
                .order(ByteOrder.LITTLE_ENDIAN);
    }
}
