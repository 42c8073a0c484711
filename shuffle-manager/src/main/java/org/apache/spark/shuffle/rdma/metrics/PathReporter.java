/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.metrics;

import java.util.function.Consumer;

/**
 * The executor's end: sends the counters to the driver when they have changed.
 *
 * <p>Threading: one thread at a time.
 */
public final class PathReporter {
    private final String executorId;
    private final PathCounters counters;
    private final Consumer<PathReport> send;
    private PathBytes reported = PathBytes.NONE;

    /**
     * @param send carries a report to the driver; may throw when it cannot, the next report makes good for it
     */
    public PathReporter(String executorId, PathCounters counters, Consumer<PathReport> send) {
        this.executorId = executorId;
        this.counters = counters;
        this.send = send;
    }

    /** Sends a report if there is anything new. */
    public synchronized void report() {
        PathBytes now = counters.read();
        if (!now.equals(reported)) {
            send.accept(new PathReport(executorId, now));
            reported = now;
        }
    }
}
