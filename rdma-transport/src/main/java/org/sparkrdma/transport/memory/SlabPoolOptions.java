/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * How a pool behaves.
 *
 * @param memoryMax most bytes of slabs in shared memory
 * @param slabBytes size of a slab in shared memory, a power of two
 * @param slabsAhead slabs kept free ahead of need once the pool is in use
 * @param memoryDirectory a tmpfs directory; empty if there is none that can be written
 * @param overflowDirectories directories on local disk, used in turn
 * @param overflowSlabBytes size of a slab on local disk, a power of two
 * @param quarantine how long extents rest before they are used again
 * @param idle how long a slab in shared memory of which nothing is out is kept
 * @param maxSlabs most slabs of both kinds; ids are below it
 * @param leakDetection whether each extent keeps the place where it was allocated
 */
public record SlabPoolOptions(
        long memoryMax,
        long slabBytes,
        int slabsAhead,
        Optional<Path> memoryDirectory,
        List<Path> overflowDirectories,
        long overflowSlabBytes,
        Duration quarantine,
        Duration idle,
        int maxSlabs,
        boolean leakDetection) {
    /** Largest slab, bytes: a range of it fits one buffer. */
    static final long MAX_SLAB_BYTES = 1L << 30;

    /** Refuses sizes that no slab can have. */
    public SlabPoolOptions {
        checkSlabSize("slab.size", slabBytes);
        checkSlabSize("overflow.slab.size", overflowSlabBytes);
        if (slabsAhead < 0 || maxSlabs < 2 || quarantine.isNegative() || idle.isNegative()) {
            throw new IllegalArgumentException("not possible for a pool: " + slabsAhead + " slabs ahead, " + maxSlabs
                    + " slabs (one is the directory), quarantine " + quarantine + ", idle " + idle);
        }
    }

    private static void checkSlabSize(String key, long bytes) {
        if (Long.bitCount(bytes) != 1 || bytes < BuddyAllocator.MIN_BLOCK || bytes > MAX_SLAB_BYTES) {
            throw new IllegalArgumentException("spark.shuffle.rdma." + key + " must be a power of two between "
                    + BuddyAllocator.MIN_BLOCK + " and " + MAX_SLAB_BYTES + ", not " + bytes);
        }
    }
}
