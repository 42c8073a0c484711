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
        int maxSlabs,
        boolean leakDetection) {}
