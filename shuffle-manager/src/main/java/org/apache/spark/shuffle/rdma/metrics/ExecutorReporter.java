/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.metrics;

import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The executor's end: sends a report to the driver when there is anything new.
 *
 * <p>Threading: one thread at a time.
 */
public final class ExecutorReporter {
    private final Supplier<ExecutorReport> current;
    private final Consumer<ExecutorReport> send;
    private ExecutorReport reported;

    /**
     * @param current what there is to report
     * @param send carries a report to the driver; may throw when it cannot, the next report makes good for it
     */
    public ExecutorReporter(Supplier<ExecutorReport> current, Consumer<ExecutorReport> send) {
        this.current = current;
        this.send = send;
    }

    /** Sends a report if anything has changed. */
    public synchronized void report() {
        ExecutorReport now = current.get();
        if (!now.equals(reported)) {
            send.accept(now);
            reported = now;
        }
    }
}
