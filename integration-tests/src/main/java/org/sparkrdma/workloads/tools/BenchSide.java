/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.tools;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.sparkrdma.cluster.Application;
import org.sparkrdma.cluster.ClusterJvm;
import org.sparkrdma.cluster.StandaloneCluster;
import org.sparkrdma.cluster.Submission;
import org.sparkrdma.workloads.bench.BenchRun;
import org.sparkrdma.workloads.bench.RunBench;
import org.sparkrdma.workloads.bench.Workload;

/** One side of a benchmark: an application with two executors of one core that runs a workload when it is told to. */
final class BenchSide implements AutoCloseable {
    private static final Duration RUN_LIMIT = Duration.ofMinutes(10);
    private static final double CLOCK_TICKS = 100;
    private static final Map<String, Map<String, String>> SIDES = sides();

    private final String name;
    private final boolean isCompressed;
    private final Submission submission;
    private final StandaloneCluster cluster;
    private final String applicationId;
    private final Map<Workload, List<BenchRun>> runs = new LinkedHashMap<>();

    private BenchSide(
            String name, boolean isCompressed, Submission submission, StandaloneCluster cluster, String applicationId) {
        this.name = name;
        this.isCompressed = isCompressed;
        this.submission = submission;
        this.cluster = cluster;
        this.applicationId = applicationId;
    }

    private static Map<String, Map<String, String>> sides() {
        String manager = "org.apache.spark.shuffle.rdma.RdmaShuffleManager";
        Map<String, Map<String, String>> sides = new LinkedHashMap<>();
        sides.put("builtin-hostlocal", Map.of("spark.shuffle.readHostLocalDisk", "true"));
        sides.put("builtin-netty", Map.of("spark.shuffle.readHostLocalDisk", "false"));
        String interval = "spark.shuffle.rdma.report.interval";
        sides.put("rdma-shm", Map.of("spark.shuffle.manager", manager, interval, "200ms"));
        sides.put(
                "rdma-netty",
                Map.of("spark.shuffle.manager", manager, "spark.shuffle.rdma.paths", "netty", interval, "200ms"));
        return sides;
    }

    static List<String> names() {
        return List.copyOf(SIDES.keySet());
    }

    static BenchSide start(
            StandaloneCluster cluster, Workspace workspace, String name, boolean isCompressed, Map<String, String> conf)
            throws IOException, InterruptedException, TimeoutException {
        if (!SIDES.containsKey(name)) {
            throw new IllegalArgumentException("no side " + name + "; there are " + names());
        }
        Map<String, String> all = new LinkedHashMap<>();
        all.put("spark.driver.extraClassPath", workspace.pluginJar().toString());
        all.put("spark.executor.extraClassPath", workspace.pluginJar().toString());
        all.put("spark.ui.enabled", "false");
        all.put("spark.driver.memory", "1g");
        all.put("spark.executor.memory", "1500m");
        all.put("spark.executor.cores", "1");
        all.put("spark.cores.max", "2");
        all.put("spark.sql.autoBroadcastJoinThreshold", "-1");
        all.put("spark.sql.shuffle.partitions", "32");
        all.put("spark.shuffle.compress", Boolean.toString(isCompressed));
        all.putAll(conf);
        all.putAll(SIDES.get(name));
        Submission submission = cluster.submit(Application.of(RunBench.class.getName(), workspace.workloadsJar())
                .withConf(all)
                .withLimit(Duration.ofHours(12)));
        String line = submission.nextLine(Duration.ofMinutes(3));
        while (!line.startsWith(RunBench.READY)) {
            line = submission.nextLine(Duration.ofMinutes(3));
        }
        return new BenchSide(name, isCompressed, submission, cluster, line.substring(RunBench.READY.length()));
    }

    String name() {
        return name;
    }

    boolean isCompressed() {
        return isCompressed;
    }

    /** Runs a workload now and waits for its end; counted runs are kept. */
    BenchRun run(Workload workload, boolean isCounted) throws IOException, InterruptedException, TimeoutException {
        resetPeakResident();
        double before = processCpuSeconds();
        submission.send(workload.label());
        String line = submission.nextLine(RUN_LIMIT);
        while (!line.startsWith(BenchRun.MARK)) {
            System.err.println(name + ": " + line);
            line = submission.nextLine(RUN_LIMIT);
        }
        BenchRun run = BenchRun.fromLine(line)
                .with(Map.of("cpu_s", processCpuSeconds() - before, "peak_resident_bytes", peakResidentBytes()));
        if (isCounted) {
            runs.computeIfAbsent(workload, each -> new ArrayList<>()).add(run);
        }
        return run;
    }

    List<BenchRun> runs(Workload workload) {
        return runs.getOrDefault(workload, List.of());
    }

    /** The counted runs' values of a figure, sorted. */
    List<Double> values(Workload workload, String figure) {
        return runs(workload).stream()
                .map(run -> run.figures().getOrDefault(figure, 0.0))
                .sorted()
                .toList();
    }

    double median(Workload workload, String figure) {
        List<Double> sorted = values(workload, figure);
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }

    void finish() throws IOException, InterruptedException, TimeoutException {
        submission.endInput();
        submission.awaitSuccess();
    }

    @Override
    public void close() {
        submission.close();
    }

    private List<ClusterJvm> executors() {
        return cluster.executors().stream()
                .filter(jvm ->
                        jvm.option("--app-id").filter(applicationId::equals).isPresent())
                .toList();
    }

    /** CPU time of the executors' processes: tasks, network threads, collector, compiler. */
    private double processCpuSeconds() throws IOException {
        double ticks = 0;
        for (ClusterJvm executor : executors()) {
            String stat = Files.readString(proc(executor, "stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            ticks += Double.parseDouble(fields[11]) + Double.parseDouble(fields[12]);
        }
        return ticks / CLOCK_TICKS;
    }

    /** From here on the kernel counts peaks of resident memory anew. */
    private void resetPeakResident() throws IOException {
        for (ClusterJvm executor : executors()) {
            Files.writeString(proc(executor, "clear_refs"), "5");
        }
    }

    /** The largest resident memory that an executor has had since the peaks were reset, shared pages included. */
    private double peakResidentBytes() throws IOException {
        double peak = 0;
        for (ClusterJvm executor : executors()) {
            Map<String, String> status = Files.readAllLines(proc(executor, "status")).stream()
                    .map(line -> line.split(":\\s*", 2))
                    .filter(parts -> parts.length == 2)
                    .collect(Collectors.toMap(parts -> parts[0], parts -> parts[1], (one, other) -> one));
            double kilobytes = Arrays.stream(status.get("VmHWM").split(" ", -1))
                    .mapToDouble(word -> word.matches("\\d+") ? Double.parseDouble(word) : 0)
                    .sum();
            peak = Math.max(peak, kilobytes * 1024);
        }
        return peak;
    }

    private static Path proc(ClusterJvm jvm, String file) {
        return Path.of("/proc", Long.toString(jvm.pid()), file);
    }
}
