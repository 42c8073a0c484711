/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.support;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** A monotonic clock that a test moves. It starts shortly before its nanoseconds wrap round, as a real one may. */
public final class ManualClock implements LongSupplier {
    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 1000);

    @Override
    public long getAsLong() {
        return now.get();
    }

    /** Moves the clock on. */
    public void advance(Duration by) {
        now.addAndGet(by.toNanos());
    }
}
