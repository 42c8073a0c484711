/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.bench;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.StageInfo;

/**
 * Sums Spark's own figures of the stages that end: those that read no shuffle are the map stage, the others the read
 * stage.
 *
 * <p>Threading: Spark's listener thread adds, the application takes.
 */
final class StageFigures extends SparkListener {
    private Span map = Span.NONE;
    private Span read = Span.NONE;
    private long cpuNanos;
    private long gcMillis;
    private long fetchWaitMillis;
    private long written;

    /** From the first start to the last end, milliseconds since the epoch. */
    private record Span(long from, long to) {
        static final Span NONE = new Span(Long.MAX_VALUE, Long.MIN_VALUE);

        Span with(StageInfo stage) {
            return new Span(Math.min(from, (Long) stage.submissionTime().get()), Math.max(to, (Long)
                    stage.completionTime().get()));
        }

        double seconds() {
            return to < from ? 0 : (to - from) / 1e3;
        }
    }

    @Override
    public synchronized void onStageCompleted(SparkListenerStageCompleted completed) {
        StageInfo stage = completed.stageInfo();
        TaskMetrics metrics = stage.taskMetrics();
        if (metrics.shuffleReadMetrics().recordsRead() == 0) {
            map = map.with(stage);
        } else {
            read = read.with(stage);
        }
        cpuNanos += metrics.executorCpuTime();
        gcMillis += metrics.jvmGCTime();
        fetchWaitMillis += metrics.shuffleReadMetrics().fetchWaitTime();
        written += metrics.shuffleWriteMetrics().bytesWritten();
    }

    /** The figures since the last call. */
    synchronized Map<String, Double> take() {
        Map<String, Double> figures = new LinkedHashMap<>();
        figures.put("map_stage_s", map.seconds());
        figures.put("read_stage_s", read.seconds());
        figures.put("task_cpu_s", cpuNanos / 1e9);
        figures.put("gc_s", gcMillis / 1e3);
        figures.put("fetch_wait_s", fetchWaitMillis / 1e3);
        figures.put("written_bytes", (double) written);
        map = Span.NONE;
        read = Span.NONE;
        cpuNanos = 0;
        gcMillis = 0;
        fetchWaitMillis = 0;
        written = 0;
        return figures;
    }
}
