/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.function.ToLongFunction;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.shuffle.rdma.RdmaShuffleManager;
import org.apache.spark.shuffle.rdma.metrics.ExecutorReport;
import org.apache.spark.shuffle.rdma.metrics.PathBytes;
import org.apache.spark.shuffle.rdma.metrics.SlabBytes;
import org.apache.spark.sql.SparkSession;
import org.sparkrdma.workloads.tpcds.PathCounter;

/**
 * The application of one side: runs the workloads whose names come line by line on stdin, and reports each run on
 * stdout, so that its caller can take turns between sides.
 */
public final class RunBench {
    /** What the line that names the application to its caller starts with. */
    public static final String READY = "bench-ready ";

    private RunBench() {}

    /** Runs until its input ends. */
    public static void main(String[] args) throws IOException, InterruptedException, TimeoutException {
        BufferedReader stdin = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (SparkSession spark = SparkSession.builder().appName("bench").getOrCreate()) {
            StageFigures stages = new StageFigures();
            spark.sparkContext().addSparkListener(stages);
            System.out.println(READY + spark.sparkContext().applicationId());
            for (String line = stdin.readLine(); line != null; line = stdin.readLine()) {
                System.out.println(run(spark, stages, Workload.named(line)).toLine());
            }
        }
    }

    private static BenchRun run(SparkSession spark, StageFigures stages, Workload workload)
            throws InterruptedException, TimeoutException {
        PathBytes before = PathCounter.read();
        stages.take();
        long start = System.nanoTime();
        String answer = workload.run(spark);
        double seconds = (System.nanoTime() - start) / 1e9;
        spark.sparkContext().listenerBus().waitUntilEmpty();
        Map<String, Double> figures = new LinkedHashMap<>();
        figures.put("wall_s", seconds);
        figures.putAll(stages.take());
        PathBytes bytes = PathCounter.read().minus(before);
        figures.put("local_bytes", (double) bytes.local());
        figures.put("shm_bytes", (double) bytes.shm());
        figures.put("netty_bytes", (double) bytes.netty());
        figures.put("overflow_bytes", (double) bytes.overflow());
        List<SlabBytes> slabs = slabs();
        figures.put("live_bytes", largest(slabs, SlabBytes::live));
        figures.put("slab_bytes", largest(slabs, SlabBytes::memory));
        letGo(spark);
        return new BenchRun(answer, figures);
    }

    /**
     * Lets the run's map outputs go now, not in the middle of this side's next run: the driver's scheduler holds on to
     * a job until it sees another one, and what is unused goes when the driver's collector finds it.
     */
    private static void letGo(SparkSession spark) {
        new JavaSparkContext(spark.sparkContext()).parallelize(List.of(1), 1).count();
        System.gc();
    }

    private static List<SlabBytes> slabs() {
        return SparkEnv.get().shuffleManager() instanceof RdmaShuffleManager manager
                ? manager.executorReports().stream().map(ExecutorReport::slabs).toList()
                : List.of();
    }

    private static double largest(List<SlabBytes> slabs, ToLongFunction<SlabBytes> figure) {
        return slabs.stream().mapToLong(figure).max().orElse(0);
    }
}
