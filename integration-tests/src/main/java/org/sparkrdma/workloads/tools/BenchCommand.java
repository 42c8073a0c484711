/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.tools;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import org.sparkrdma.cluster.StandaloneCluster;
import org.sparkrdma.workloads.bench.BenchRun;
import org.sparkrdma.workloads.bench.Workload;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code bin/bench}: workloads x sides, the sides taking turns run by run after a warm-up. */
@Command(name = "bench", mixinStandardHelpOptions = true)
public final class BenchCommand implements Callable<Integer> {
    private static final List<String> SHOWN = List.of("wall_s", "map_stage_s", "read_stage_s", "cpu_s", "gc_s");
    private static final double MB = 1e6;

    @Option(names = "--workloads", split = ",", description = "default: narrow,wide,join,parts500")
    List<String> workloads = List.of("narrow", "wide", "join", "parts500");

    @Option(names = "--sides", split = ",", description = "default: all")
    List<String> sides = BenchSide.names();

    @Option(names = "--runs", defaultValue = "5", description = "counted runs (default: ${DEFAULT-VALUE})")
    int runs;

    @Option(names = "--warmup", defaultValue = "5", description = "runs before (default: ${DEFAULT-VALUE})")
    int warmup;

    @Option(
            names = "--compress",
            defaultValue = "on",
            paramLabel = "on|off|both",
            description = "spark.shuffle.compress (default: ${DEFAULT-VALUE})")
    String compress;

    @Option(names = "--conf", paramLabel = "KEY=VALUE", description = "Spark configuration, for all sides")
    Map<String, String> conf = new LinkedHashMap<>();

    @Option(names = "--json", paramLabel = "FILE", description = "write the figures to this file as JSON")
    Optional<Path> json = Optional.empty();

    private BenchCommand() {}

    /** Called by {@code bin/bench}. */
    public static void main(String[] args) {
        Tool.run(new BenchCommand(), args);
    }

    @Override
    public Integer call() throws IOException, InterruptedException, TimeoutException {
        List<Workload> chosen = workloads.stream().map(Workload::named).toList();
        Workspace workspace = Workspace.fromSystemProperties();
        List<BenchSide> running = new ArrayList<>();
        boolean isEqual = true;
        try (StandaloneCluster cluster =
                StandaloneCluster.start(workspace.clusterOptions().withWorkers(2, 8, "16g"))) {
            try {
                for (String side : sides) {
                    for (boolean isCompressed : compressions()) {
                        running.add(BenchSide.start(cluster, workspace, side, isCompressed, conf));
                    }
                }
                for (Workload workload : chosen) {
                    isEqual &= measure(workload, running);
                    print(workload, running);
                }
                for (BenchSide side : running) {
                    side.finish();
                }
            } finally {
                running.forEach(BenchSide::close);
            }
        }
        if (json.isPresent()) {
            writeJson(json.get(), chosen, running, isEqual);
        }
        return isEqual ? 0 : 1;
    }

    private List<Boolean> compressions() {
        return switch (compress) {
            case "on" -> List.of(true);
            case "off" -> List.of(false);
            case "both" -> List.of(true, false);
            default -> throw new IllegalArgumentException("--compress is on, off or both, not " + compress);
        };
    }

    /** Runs A B C, A B C and so on; answers whether all answers are the same. */
    private boolean measure(Workload workload, List<BenchSide> running)
            throws IOException, InterruptedException, TimeoutException {
        String expected = null;
        boolean isEqual = true;
        for (int round = 0; round < warmup + runs; round++) {
            for (BenchSide side : running) {
                BenchRun run = side.run(workload, round >= warmup);
                System.err.printf(
                        "%s round %d of %d: %s %.2f s%n",
                        workload.label(),
                        round + 1,
                        warmup + runs,
                        side.name(),
                        run.figures().get("wall_s"));
                expected = expected == null ? run.answer() : expected;
                if (!expected.equals(run.answer())) {
                    System.err.println(side.name() + " answers " + run.answer() + ", expected " + expected);
                    isEqual = false;
                }
            }
        }
        return isEqual;
    }

    private void print(Workload workload, List<BenchSide> running) {
        System.out.printf(
                "%n%s: medians of %d runs (min-max) after %d to warm up, sides in turn; %s%n",
                workload.label(), runs, warmup, Machine.describe());
        System.out.printf("%-24s", "side");
        SHOWN.forEach(figure -> System.out.printf(" %18s", figure));
        System.out.printf(
                " %6s %6s %8s %8s %8s %8s %8s %8s%n",
                "wall", "cpu", "peak MB", "live MB", "slab MB", "local MB", "shm MB", "netty MB");
        double bestWall = best(workload, running, "wall_s");
        double bestCpu = best(workload, running, "cpu_s");
        for (BenchSide side : running) {
            System.out.printf("%-24s", side.name() + (side.isCompressed() ? "" : " raw"));
            for (String figure : SHOWN) {
                List<Double> values = side.values(workload, figure);
                System.out.printf(
                        " %6.2f (%.2f-%.2f)",
                        side.median(workload, figure), values.get(0), values.get(values.size() - 1));
            }
            System.out.printf(
                    " %6.2f %6.2f %8.0f %8.0f %8.0f %8.1f %8.1f %8.1f%n",
                    side.median(workload, "wall_s") / bestWall,
                    side.median(workload, "cpu_s") / bestCpu,
                    side.median(workload, "peak_resident_bytes") / MB,
                    side.median(workload, "live_bytes") / MB,
                    side.median(workload, "slab_bytes") / MB,
                    side.median(workload, "local_bytes") / MB,
                    side.median(workload, "shm_bytes") / MB,
                    side.median(workload, "netty_bytes") / MB);
        }
        System.out.println(
                "wall, cpu: ratio to the best of the built-in sides; peak: the largest resident memory of an executor;"
                        + " live: of its map outputs; slab: its slabs; local, shm, netty: bytes read by path in a run");
    }

    /** The lowest median of the built-in sides; of all sides where there is none. */
    private static double best(Workload workload, List<BenchSide> running, String figure) {
        return running.stream()
                .min(Comparator.comparing((BenchSide side) -> !side.name().startsWith("builtin"))
                        .thenComparing(side -> side.median(workload, figure)))
                .map(side -> side.median(workload, figure))
                .orElseThrow();
    }

    private void writeJson(Path file, List<Workload> chosen, List<BenchSide> running, boolean isEqual)
            throws IOException {
        ObjectMapper mapper = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
        ObjectNode root = mapper.createObjectNode();
        root.put("date", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        root.put("machine", Machine.describe());
        root.put("runs", runs);
        root.put("warmup", warmup);
        root.put("all_equal", isEqual);
        root.set("conf", mapper.valueToTree(conf));
        ArrayNode list = root.putArray("workloads");
        for (Workload workload : chosen) {
            ObjectNode node = list.addObject();
            node.put("name", workload.label());
            ArrayNode ofSides = node.putArray("sides");
            for (BenchSide side : running) {
                ObjectNode figures = ofSides.addObject();
                figures.put("name", side.name());
                figures.put("compress", side.isCompressed());
                for (String figure : side.runs(workload).get(0).figures().keySet()) {
                    List<Double> values = side.values(workload, figure);
                    ObjectNode spread = figures.putObject(figure);
                    spread.put("median", side.median(workload, figure));
                    spread.put("min", values.get(0));
                    spread.put("max", values.get(values.size() - 1));
                }
            }
        }
        Tool.write(file, mapper.writeValueAsString(root));
    }
}
