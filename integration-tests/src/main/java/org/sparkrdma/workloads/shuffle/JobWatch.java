/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.shuffle;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.shuffle.rdma.RdmaShuffleManager;
import org.apache.spark.shuffle.rdma.metrics.PathBytes;

/** What happened while a job ran: stages that Spark ran again, tasks that failed, bytes shuffled and by which path. */
final class JobWatch extends SparkListener {
    private static final long QUIET_MILLIS = 400;
    private static final int MOST_READINGS = 25;

    private final AtomicLong retries = new AtomicLong();
    private final AtomicLong failedTasks = new AtomicLong();
    private final AtomicLong bytesWritten = new AtomicLong();

    @Override
    public void onStageSubmitted(SparkListenerStageSubmitted stage) {
        if (stage.stageInfo().attemptNumber() > 0) {
            retries.incrementAndGet();
        }
    }

    @Override
    public void onTaskEnd(SparkListenerTaskEnd task) {
        if (!task.taskInfo().successful()) {
            failedTasks.incrementAndGet();
        }
        if (task.taskMetrics() != null) {
            bytesWritten.addAndGet(task.taskMetrics().shuffleWriteMetrics().bytesWritten());
        }
    }

    /** The members of a JSON object. */
    String json(SparkContext context) throws Exception {
        context.listenerBus().waitUntilEmpty(TimeUnit.SECONDS.toMillis(30));
        StringBuilder json = new StringBuilder();
        json.append("\"retries\":").append(retries).append(",\"failedTasks\":").append(failedTasks);
        json.append(",\"bytesWritten\":").append(bytesWritten);
        String manager = SparkEnv.get().shuffleManager().getClass().getSimpleName();
        if (manager.equals("RdmaShuffleManager")) {
            json.append(',').append(Plugin.json());
        }
        return json.append(",\"manager\":\"").append(manager).append('"').toString();
    }

    /** Apart from the rest, so that a job with the built-in shuffle does not need the plugin's classes. */
    private static final class Plugin {
        static String json() throws InterruptedException {
            RdmaShuffleManager manager = (RdmaShuffleManager) SparkEnv.get().shuffleManager();
            PathBytes last = PathBytes.NONE;
            PathBytes next = manager.pathBytes();
            for (int i = 0; i < MOST_READINGS && (i == 0 || !next.equals(last)); i++) {
                TimeUnit.MILLISECONDS.sleep(QUIET_MILLIS);
                last = next;
                next = manager.pathBytes();
            }
            return String.format(
                    "\"local\":%d,\"shm\":%d,\"rdma\":%d,\"netty\":%d,\"overflow\":%d",
                    next.local(), next.shm(), next.rdma(), next.netty(), next.overflow());
        }
    }
}
