/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.sparkrdma.transport.memory.TestPools.QUARANTINE;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.transport.support.MemoryDirectory;

class ExtentChainTest {
    private static final long KIB = 1 << 10;
    private static final long MIB = 1 << 20;
    private static final long PAGE = BuddyAllocator.MIN_BLOCK;

    private MemoryDirectory memory;
    private TestPools pools;
    private SlabPool pool;

    @BeforeEach
    void openPool() throws IOException {
        memory = MemoryDirectory.create(64 * MIB);
        pools = new TestPools().slabBytes(8 * MIB).memory(memory.path(), 64 * MIB);
        pool = pools.build();
    }

    @AfterEach
    void closePool() throws IOException {
        pool.close();
        memory.close();
    }

    @Test
    void anEmptyOutputTakesNothing() {
        ExtentChain chain = new ExtentChain(pool);
        chain.seal();
        assertEquals(0, chain.length());
        assertEquals(List.of(), chain.pieces(0, 0));
        assertEquals(List.of(), chain.views(0, 0));
        assertFalse(chain.hasOverflow());
        chain.free();
        assertEquals(0, pool.usage().used());
    }

    @Test
    void aSealedOutputHoldsNoMoreThanAPageTooMuch() throws IOException {
        // The extents are 16 KiB, 32 KiB, ..., 4 MiB, 4 MiB, ...: their ends, and one byte off each.
        long end = 0;
        for (long extent = 16 * KIB; extent <= 4 * MIB; extent *= 2) {
            end += extent;
            for (long length : new long[] {1, end - 1, end, end + 1}) {
                ExtentChain chain = filled(length);
                chain.seal();
                assertEquals(length, chain.length());
                long used = pool.usage().used();
                assertTrue(used >= length && used < length + PAGE, used + " bytes for " + length);
                assertHolds(chain, 0, length);
                chain.free();
                chain.free();
                assertEquals(used, pool.usage().quarantined(), "each extent was given back once");
                pools.clock.advance(QUARANTINE);
                pool.maintain();
                assertEquals(0, pool.usage().used());
            }
        }
    }

    @Test
    void randomRangesAreTheBytesThatWereAppended() throws IOException {
        Random random = new Random(7);
        for (int round = 0; round < 20; round++) {
            long length = 1L + random.nextInt((int) (10 * MIB));
            ExtentChain chain = filled(length);
            chain.seal();
            for (int i = 0; i < 50; i++) {
                long from = (long) (random.nextDouble() * length);
                long to = from + (long) (random.nextDouble() * (length - from + 1));
                assertHolds(chain, from, Math.min(to, length));
            }
            assertHolds(chain, length, length);
            chain.free();
            pools.clock.advance(QUARANTINE);
        }
    }

    @Test
    void theThreeWaysToAppendGiveTheSameBytes() throws IOException {
        Random random = new Random(11);
        ExtentChain chain = new ExtentChain(pool);
        long at = 0;
        while (at < 3 * MIB) {
            byte[] bytes = new byte[random.nextInt(40_000)];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = byteAt(at + i);
            }
            switch (random.nextInt(4)) {
                case 0 -> chain.append(bytes, 0, bytes.length);
                case 1 -> {
                    ByteBuffer buffer = ByteBuffer.allocate(bytes.length + 3).position(3);
                    buffer.put(bytes).flip().position(3);
                    chain.append(buffer);
                    assertFalse(buffer.hasRemaining());
                }
                case 2 -> {
                    ByteBuffer buffer = ByteBuffer.allocateDirect(bytes.length);
                    chain.append(buffer.put(bytes).flip());
                }
                default -> {
                    int written = 0;
                    while (written < bytes.length) {
                        ByteBuffer room = chain.writable();
                        int step = Math.min(room.remaining(), bytes.length - written);
                        room.put(bytes, written, step);
                        chain.advance(step);
                        written += step;
                    }
                }
            }
            at += bytes.length;
        }
        chain.seal();
        assertEquals(at, chain.length());
        assertHolds(chain, 0, at);
    }

    @Test
    void piecesAndViewsAreTheSameMemory() throws IOException {
        ExtentChain chain = filled(MIB);
        chain.seal();
        List<ExtentChain.Piece> pieces = chain.pieces(10_000, 900_000);
        List<ByteBuffer> views = chain.views(10_000, 900_000);
        assertEquals(views.size(), pieces.size());
        for (int i = 0; i < views.size(); i++) {
            ExtentChain.Piece piece = pieces.get(i);
            assertEquals(views.get(i), piece.slab().memory().slice((int) piece.offset(), piece.length()));
            assertTrue(views.get(i).isReadOnly());
        }
    }

    @Test
    void whatIsSealedOrFreedTakesNothingMore() throws IOException {
        ExtentChain sealed = filled(5000);
        sealed.seal();
        assertThrows(IllegalStateException.class, () -> sealed.append(new byte[1], 0, 1));
        assertThrows(IllegalStateException.class, sealed::writable);
        assertHolds(sealed, 0, 5000);
        assertThrows(IndexOutOfBoundsException.class, () -> sealed.views(0, 5001));
        assertThrows(IndexOutOfBoundsException.class, () -> sealed.pieces(-1, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> sealed.pieces(2, 1));

        ExtentChain freed = filled(5000);
        freed.free();
        assertThrows(IOException.class, () -> freed.append(new byte[1], 0, 1), "room was left in its extent");
        assertThrows(IllegalStateException.class, () -> freed.views(0, 1));
        freed.seal();
        assertEquals(16 * KIB, pool.usage().quarantined());
    }

    @Test
    void anOutputThatFindsNoRoomCountsWhatItHoldsAndGivesItBack() throws IOException {
        try (SlabPool small =
                new TestPools().memory(memory.path(), TestPools.SLAB).build()) {
            ExtentChain chain = new ExtentChain(small);
            assertThrows(IOException.class, () -> chain.append(new byte[200_000], 0, 200_000));
            assertEquals(48 * KIB, chain.length());
            assertThrows(IOException.class, () -> chain.append(ByteBuffer.allocate(200_000)));
            assertEquals(48 * KIB, chain.length());
            chain.free();
            assertEquals(48 * KIB, small.usage().quarantined());
        }
    }

    @Test
    void anOutputThatGoesOnOnDiskSaysSo(@TempDir Path disk) throws IOException {
        try (SlabPool mixed = new TestPools()
                .memory(memory.path(), TestPools.SLAB)
                .overflow(disk)
                .build()) {
            ExtentChain chain = new ExtentChain(mixed);
            chain.append(new byte[(int) (40 * KIB)], 0, (int) (40 * KIB));
            assertFalse(chain.hasOverflow());
            chain.append(new byte[(int) (100 * KIB)], 0, (int) (100 * KIB));
            assertTrue(chain.hasOverflow());
        }
    }

    @Test
    void anOutputMayBeLongerThanTwoGibibytes() throws IOException {
        long length = (2L << 30) + 12_345;
        try (MemoryDirectory large = MemoryDirectory.create(4L << 30);
                SlabPool big = new TestPools()
                        .slabBytes(256 * MIB)
                        .memory(large.path(), 3L << 30)
                        .guard(MemoryGuard.ofMachine())
                        .build()) {
            assumeTrue(
                    MemoryGuard.ofMachine().allows(4L << 30), "this machine has less than 4 GiB of memory available");
            ExtentChain chain = new ExtentChain(big);
            while (chain.length() < length) {
                // The pages are there already; only the ends of the memory are looked at.
                int step = (int) Math.min(chain.writable().remaining(), length - chain.length());
                ByteBuffer room = chain.writable();
                room.put(0, byteAt(chain.length()));
                room.put(step - 1, byteAt(chain.length() + step - 1));
                chain.advance(step);
            }
            chain.seal();
            assertEquals(length, chain.length());
            assertEquals(
                    length,
                    chain.pieces(0, length).stream()
                            .mapToLong(ExtentChain.Piece::length)
                            .sum());
            assertEquals(
                    byteAt(length - 1), chain.views(length - 1, length).get(0).get(0));
            long at = 0;
            for (ByteBuffer view : chain.views(0, length)) {
                assertEquals(byteAt(at), view.get(0));
                at += view.remaining();
                assertEquals(byteAt(at - 1), view.get(view.limit() - 1));
            }
            assertFalse(chain.hasOverflow());
            chain.free();
        }
    }

    private ExtentChain filled(long length) throws IOException {
        byte[] bytes = new byte[(int) length];
        for (int i = 0; i < length; i++) {
            bytes[i] = byteAt(i);
        }
        ExtentChain chain = new ExtentChain(pool);
        chain.append(bytes, 0, bytes.length);
        return chain;
    }

    private static void assertHolds(ExtentChain chain, long from, long to) {
        long at = from;
        for (ByteBuffer view : chain.views(from, to)) {
            while (view.hasRemaining()) {
                byte found = view.get();
                if (found != byteAt(at)) {
                    assertEquals(byteAt(at), found, "byte " + at);
                }
                at++;
            }
        }
        assertEquals(to, at);
    }

    private static byte byteAt(long position) {
        return (byte) (position * 31 + (position >>> 12));
    }
}
