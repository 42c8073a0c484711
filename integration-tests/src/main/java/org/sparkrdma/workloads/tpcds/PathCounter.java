/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.tpcds;

import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkEnv;
import org.apache.spark.shuffle.rdma.RdmaShuffleManager;
import org.apache.spark.shuffle.rdma.metrics.PathBytes;

/**
 * Reads the bytes by path in the driver. Executors report every {@code spark.shuffle.rdma.report.interval},
 * so that a reading counts when it did not move for longer than that.
 */
public final class PathCounter {
    private static final long INTERVAL_MILLIS = 300;
    private static final int MOST_READINGS = 20;

    private PathCounter() {}

    /** All bytes read by the application so far; nothing with another shuffle manager. */
    public static PathBytes read() throws InterruptedException {
        if (!(SparkEnv.get().shuffleManager() instanceof RdmaShuffleManager manager)) {
            return PathBytes.NONE;
        }
        PathBytes last = manager.pathBytes();
        for (int i = 0; i < MOST_READINGS; i++) {
            TimeUnit.MILLISECONDS.sleep(INTERVAL_MILLIS);
            PathBytes next = manager.pathBytes();
            if (next.equals(last)) {
                break;
            }
            last = next;
        }
        return last;
    }
}
