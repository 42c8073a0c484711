/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BuddyAllocatorTest {
    private static final int PAGE = BuddyAllocator.MIN_BLOCK;
    private static final long MIB = 1L << 20;

    private record Block(long offset, long bytes) {}

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void handsOutWhatAModelSaysIsFreeAndMergesBackToTheWhole(long seed) {
        Random random = new Random(seed);
        long bytes = (long) PAGE << (seed + 2);
        BuddyAllocator allocator = new BuddyAllocator(bytes);
        BitSet pages = new BitSet();
        List<Block> live = new ArrayList<>();
        for (int round = 0; round < 20_000; round++) {
            if (live.isEmpty() || random.nextInt(100) < 55) {
                long size = BuddyAllocator.blockFor(1 + (long) (random.nextDouble() * random.nextDouble() * bytes));
                boolean can = allocator.canAllocate(size);
                long offset = allocator.allocate(size);
                assertEquals(can, offset >= 0);
                if (offset < 0) {
                    assertFalse(hasAlignedRun(pages, size, bytes), "there was room for " + size);
                } else {
                    assertEquals(0, offset % size, "aligned to its size");
                    assertTrue(offset + size <= bytes);
                    mark(pages, offset, size, true);
                    live.add(new Block(offset, size));
                }
            } else {
                int at = random.nextInt(live.size());
                Block block = live.get(at);
                long kept = random.nextInt(3) == 0 ? random.nextInt((int) (block.bytes / PAGE)) * (long) PAGE : 0;
                allocator.free(block.offset + kept, block.bytes - kept);
                mark(pages, block.offset + kept, block.bytes - kept, false);
                if (kept > 0) {
                    live.set(at, new Block(block.offset, kept));
                } else {
                    live.remove(at);
                }
            }
            assertEquals(bytes - (long) pages.cardinality() * PAGE, allocator.freeBytes());
        }
        for (Block block : live) {
            allocator.free(block.offset, block.bytes);
        }
        assertEquals(bytes, allocator.freeBytes());
        assertEquals(0, allocator.allocate(bytes), "merged back to the whole");
    }

    @Test
    void anyTrimKeepsTheFrontAndFreesTheRest() {
        for (int kept = 1; kept < 256; kept++) {
            BuddyAllocator allocator = new BuddyAllocator(MIB);
            assertEquals(0, allocator.allocate(MIB));
            allocator.free((long) kept * PAGE, MIB - (long) kept * PAGE);
            int more = 0;
            while (allocator.allocate(PAGE) >= 0) {
                more++;
            }
            assertEquals(256 - kept, more);
        }
    }

    @Test
    void refusesToFreeTwiceAndThenChangesNothing() {
        BuddyAllocator allocator = new BuddyAllocator(MIB);
        long small = allocator.allocate(PAGE);
        long large = allocator.allocate(16 * PAGE);
        allocator.free(large, 16 * PAGE);

        assertThrows(IllegalStateException.class, () -> allocator.free(large, 16 * PAGE), "merged into a larger block");
        assertThrows(IllegalStateException.class, () -> allocator.free(large + PAGE, PAGE), "a part of it");
        assertThrows(IllegalStateException.class, () -> allocator.free(small, 32 * PAGE), "half of it in use");
        assertEquals(MIB - PAGE, allocator.freeBytes());

        allocator.free(small, PAGE);
        assertThrows(IllegalStateException.class, () -> allocator.free(small, PAGE));
        assertEquals(0, allocator.allocate(MIB));
    }

    @Test
    void refusesWhatAreNotItsPages() {
        BuddyAllocator allocator = new BuddyAllocator(MIB);
        allocator.allocate(MIB);
        assertThrows(IllegalArgumentException.class, () -> allocator.free(1, PAGE));
        assertThrows(IllegalArgumentException.class, () -> allocator.free(0, 1));
        assertThrows(IllegalArgumentException.class, () -> allocator.free(0, 0));
        assertThrows(IllegalArgumentException.class, () -> allocator.free(-PAGE, PAGE));
        assertThrows(IllegalArgumentException.class, () -> allocator.free(MIB, PAGE));
        assertThrows(IllegalArgumentException.class, () -> allocator.free(PAGE, Long.MAX_VALUE & -PAGE));
        assertThrows(IllegalArgumentException.class, () -> new BuddyAllocator(3 * PAGE));
        assertThrows(IllegalArgumentException.class, () -> new BuddyAllocator(PAGE / 2));
        assertEquals(0, allocator.freeBytes());
    }

    @Test
    void blocksArePowersOfTwoOfAtLeastAPage() {
        assertEquals(PAGE, BuddyAllocator.blockFor(0));
        assertEquals(PAGE, BuddyAllocator.blockFor(1));
        assertEquals(PAGE, BuddyAllocator.blockFor(PAGE));
        assertEquals(2 * PAGE, BuddyAllocator.blockFor(PAGE + 1));
        assertEquals(1L << 30, BuddyAllocator.blockFor((1L << 29) + 1));
    }

    private static boolean hasAlignedRun(BitSet pages, long size, long bytes) {
        int run = (int) (size / PAGE);
        for (int at = 0; (long) at * PAGE + size <= bytes; at += run) {
            int used = pages.nextSetBit(at);
            if (used < 0 || used >= at + run) {
                return true;
            }
        }
        return false;
    }

    private static void mark(BitSet pages, long offset, long bytes, boolean isUsed) {
        int from = (int) (offset / PAGE);
        int to = (int) ((offset + bytes) / PAGE);
        BitSet part = pages.get(from, to);
        assertEquals(isUsed ? 0 : to - from, part.cardinality(), "overlap");
        pages.set(from, to, isUsed);
    }
}
