/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.buffers;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MigrationIndexTest {
    @Test
    void lengthsAndChecksSurviveTheJourney() throws IOException {
        for (int partitions : new int[] {1, 2, 3, 24, 1000}) {
            long[] lengths =
                    new Random(partitions).longs(partitions, 0, 1L << 40).toArray();
            int[] crcs = new Random(partitions).ints(partitions).toArray();

            MigrationIndex decoded =
                    MigrationIndex.decode(new MigrationIndex(lengths, crcs, partitions % 2 == 0).encode());

            assertArrayEquals(lengths, decoded.lengths());
            assertArrayEquals(crcs, decoded.crcs());
            assertEquals(partitions % 2 == 0, decoded.isRaw());
        }
    }

    @Test
    void sparksOwnIndexFileIsReadWithoutChecks() throws IOException {
        for (int partitions = 1; partitions < 60; partitions++) {
            ByteBuffer index = ByteBuffer.allocate(8 * (partitions + 1));
            for (int i = 0; i <= partitions; i++) {
                index.putLong(10L * i);
            }

            MigrationIndex decoded = MigrationIndex.decode(index.flip());

            long[] expected = new long[partitions];
            Arrays.fill(expected, 10);
            assertArrayEquals(expected, decoded.lengths());
            assertEquals(0, decoded.crcs().length);
        }
    }

    @Test
    void decodingLeavesTheBufferAsItWas() throws IOException {
        ByteBuffer index = new MigrationIndex(new long[] {1, 2}, new int[] {3, 4}, false).encode();
        int bytes = index.remaining();

        MigrationIndex.decode(index);

        assertEquals(bytes, index.remaining());
    }

    @Test
    void emptyAndCutAndUnorderedIndexesAreRefused() {
        assertThrows(IOException.class, () -> MigrationIndex.decode(ByteBuffer.allocate(0)));
        assertThrows(IOException.class, () -> MigrationIndex.decode(ByteBuffer.allocate(7)));
        assertThrows(IOException.class, () -> MigrationIndex.decode(ByteBuffer.allocate(12)));
        ByteBuffer falling =
                ByteBuffer.allocate(24).putLong(0).putLong(10).putLong(5).flip();
        assertThrows(IOException.class, () -> MigrationIndex.decode(falling));
        ByteBuffer negative = ByteBuffer.allocate(16).putLong(-5).putLong(10).flip();
        assertThrows(IOException.class, () -> MigrationIndex.decode(negative));
    }

    @Test
    void garbageIsRefusedOrReadButNeverAnotherFailure() {
        Random random = new Random(7);
        for (int i = 0; i < 20_000; i++) {
            byte[] garbage = new byte[random.nextInt(100)];
            if (i % 2 == 0) {
                random.nextBytes(garbage);
            }
            try {
                MigrationIndex decoded = MigrationIndex.decode(ByteBuffer.wrap(garbage));
                assertEquals(
                        0,
                        Arrays.stream(decoded.lengths())
                                .filter(length -> length < 0)
                                .count());
            } catch (IOException e) {
                // Refused.
            }
        }
    }
}
