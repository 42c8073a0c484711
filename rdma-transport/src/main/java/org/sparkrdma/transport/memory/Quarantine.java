/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.LongSupplier;

/**
 * Extents that were given back and rest, so that a reader that races with it still finds what it looks for.
 *
 * <p>Threading: none of its own; {@link SlabPool} guards it.
 */
final class Quarantine {
    private final long nanos;
    private final LongSupplier nanoClock;
    private final Deque<Resting> resting = new ArrayDeque<>();
    private long bytes;

    private record Resting(Extent extent, long until) {}

    Quarantine(Duration length, LongSupplier nanoClock) {
        this.nanos = length.toNanos();
        this.nanoClock = nanoClock;
    }

    void add(Extent extent) {
        resting.add(new Resting(extent, nanoClock.getAsLong() + nanos));
        bytes += extent.length();
    }

    /** Recycles the extents that have rested long enough; answers their bytes. */
    long end() {
        long now = nanoClock.getAsLong();
        long ended = 0;
        while (!resting.isEmpty() && resting.peek().until() - now <= 0) {
            Extent extent = resting.remove().extent();
            extent.slab().recycle(extent);
            ended += extent.length();
        }
        bytes -= ended;
        return ended;
    }

    /** Forgets all extents, whose slabs are gone; answers their bytes. */
    long clear() {
        long cleared = bytes;
        resting.clear();
        bytes = 0;
        return cleared;
    }

    long bytes() {
        return bytes;
    }
}
