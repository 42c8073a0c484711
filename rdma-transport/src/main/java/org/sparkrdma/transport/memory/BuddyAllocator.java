/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

import java.util.BitSet;

/**
 * Hands out aligned power-of-two blocks of a range, lowest address first, so that a little-used slab stays hot at its
 * front.
 *
 * <p>Threading: none of its own; {@link SlabPool} guards it.
 */
final class BuddyAllocator {
    /** Smallest block, bytes: a page. */
    static final int MIN_BLOCK = 4096;

    private static final int MIN_ORDER = Integer.numberOfTrailingZeros(MIN_BLOCK);

    private final long bytes;
    private final int orders;
    private final BitSet[] free;
    private final int[] freeBlocks;
    private long freeBytes;

    /**
     * @param bytes size of the range, a power of two of at least {@link #MIN_BLOCK}
     */
    BuddyAllocator(long bytes) {
        if (Long.bitCount(bytes) != 1 || bytes < MIN_BLOCK) {
            throw new IllegalArgumentException("not a power of two of at least " + MIN_BLOCK + ": " + bytes);
        }
        this.bytes = bytes;
        orders = Long.numberOfTrailingZeros(bytes) - MIN_ORDER + 1;
        free = new BitSet[orders];
        freeBlocks = new int[orders];
        for (int order = 0; order < orders; order++) {
            free[order] = new BitSet();
        }
        markFree(orders - 1, 0);
        freeBytes = bytes;
    }

    /** Smallest block size that holds so many bytes. */
    static long blockFor(long bytes) {
        long atLeast = Math.max(bytes, MIN_BLOCK);
        long highest = Long.highestOneBit(atLeast);
        return highest == atLeast ? highest : highest << 1;
    }

    /** Whether {@link #allocate} would find such a block. */
    boolean canAllocate(long size) {
        for (int order = Long.numberOfTrailingZeros(size) - MIN_ORDER; order < orders; order++) {
            if (freeBlocks[order] > 0) {
                return true;
            }
        }
        return false;
    }

    /** Offset of a block of {@code size} bytes (a block size), or -1 if there is none. */
    long allocate(long size) {
        int wanted = Long.numberOfTrailingZeros(size) - MIN_ORDER;
        int order = wanted;
        while (order < orders && freeBlocks[order] == 0) {
            order++;
        }
        if (order >= orders) {
            return -1;
        }
        int block = free[order].nextSetBit(0);
        markUsed(order, block);
        while (order > wanted) {
            order--;
            block <<= 1;
            markFree(order, block + 1);
        }
        freeBytes -= size;
        return (long) block << (wanted + MIN_ORDER);
    }

    /**
     * Frees any page-aligned part of what was allocated.
     *
     * @throws IllegalStateException if any of it is free already; nothing changes then
     */
    void free(long offset, long length) {
        checkUsed(offset, length);
        long at = offset;
        long end = offset + length;
        while (at < end) {
            long aligned = at == 0 ? bytes : Long.lowestOneBit(at);
            long size = Math.min(aligned, Long.highestOneBit(end - at));
            freeBlock(at, size);
            at += size;
        }
        freeBytes += length;
    }

    long freeBytes() {
        return freeBytes;
    }

    private void freeBlock(long offset, long size) {
        int order = Long.numberOfTrailingZeros(size) - MIN_ORDER;
        int block = (int) (offset >>> (order + MIN_ORDER));
        while (order < orders - 1 && free[order].get(block ^ 1)) {
            markUsed(order, block ^ 1);
            block >>= 1;
            order++;
        }
        markFree(order, block);
    }

    private void checkUsed(long offset, long length) {
        if (((offset | length) & (MIN_BLOCK - 1)) != 0 || offset < 0 || length <= 0 || length > bytes - offset) {
            throw new IllegalArgumentException(length + " bytes at " + offset + " are not pages of these " + bytes);
        }
        for (int order = 0; order < orders; order++) {
            if (freeBlocks[order] > 0) {
                int shift = order + MIN_ORDER;
                int next = free[order].nextSetBit((int) (offset >>> shift));
                if (next >= 0 && next <= (offset + length - 1) >>> shift) {
                    throw new IllegalStateException("freed twice: " + length + " bytes at " + offset);
                }
            }
        }
    }

    private void markFree(int order, int block) {
        free[order].set(block);
        freeBlocks[order]++;
    }

    private void markUsed(int order, int block) {
        free[order].clear(block);
        freeBlocks[order]--;
    }
}
