/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.sparkrdma.transport.support.ManualClock;

/** Builds pools for tests: slabs of 64 KiB unless said otherwise. */
final class TestPools {
    static final long SLAB = 64 << 10;
    static final Duration QUARANTINE = Duration.ofSeconds(10);
    static final Duration IDLE = Duration.ofSeconds(60);

    static final SlabListener DEAF = new SlabListener() {
        @Override
        public void slabOpened(Slab slab) {}

        @Override
        public void slabClosed(Slab slab) {}
    };

    final ManualClock clock = new ManualClock();
    private long memoryMax = 4 * SLAB;
    private long slabBytes = SLAB;
    private int slabsAhead;
    private Optional<Path> memory = Optional.empty();
    private List<Path> overflow = List.of();
    private int maxSlabs = 4096;
    private boolean leakDetection;
    private MemoryGuard guard = MemoryGuard.NONE;
    private SlabListener listener = DEAF;

    TestPools memory(Path directory, long max) {
        memory = Optional.of(directory);
        memoryMax = max;
        return this;
    }

    TestPools slabBytes(long bytes) {
        slabBytes = bytes;
        return this;
    }

    TestPools slabsAhead(int slabs) {
        slabsAhead = slabs;
        return this;
    }

    TestPools overflow(Path... directories) {
        overflow = List.of(directories);
        return this;
    }

    TestPools maxSlabs(int slabs) {
        maxSlabs = slabs;
        return this;
    }

    TestPools leakDetection() {
        leakDetection = true;
        return this;
    }

    TestPools guard(MemoryGuard by) {
        guard = by;
        return this;
    }

    TestPools listener(SlabListener told) {
        listener = told;
        return this;
    }

    SlabPool build() {
        return new SlabPool(
                new SlabPoolOptions(
                        memoryMax,
                        slabBytes,
                        slabsAhead,
                        memory,
                        overflow,
                        slabBytes,
                        QUARANTINE,
                        IDLE,
                        maxSlabs,
                        leakDetection),
                new SegmentFile.Factory(),
                clock,
                guard,
                listener);
    }
}
