/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.tools;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import org.sparkrdma.cluster.ClusterOptions;
import org.sparkrdma.cluster.StandaloneCluster;
import org.sparkrdma.workloads.tpcds.QueryRun;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code bin/demo}: the same TPC-DS queries with the built-in shuffle and with ours, and a table of both. */
@Command(name = "demo", mixinStandardHelpOptions = true)
public final class DemoCommand implements Callable<Integer> {
    /** A dozen queries that spend much of their time in shuffles when no join is a broadcast. */
    private static final List<String> SHUFFLE_HEAVY =
            List.of("q4", "q11", "q17", "q25", "q29", "q47", "q51", "q64", "q67", "q78", "q95", "q97");

    private static final int WARM_UP = 1;

    @Option(names = "--scale", defaultValue = "0.1", description = "TPC-DS scale (default: ${DEFAULT-VALUE})")
    BigDecimal scale;

    @Option(names = "--passes", defaultValue = "3", description = "counted passes (default: ${DEFAULT-VALUE})")
    int passes;

    @Mixin
    ComparisonOptions options;

    private DemoCommand() {}

    public static void main(String[] args) {
        Tool.run(new DemoCommand(), args);
    }

    @Override
    public Integer call() throws IOException, InterruptedException, TimeoutException {
        ComparisonOptions.checkScale(scale);
        Workspace workspace = Workspace.fromSystemProperties();
        List<String> queries = options.queries(SHUFFLE_HEAVY);
        Path data = TpcdsData.ensure(workspace, scale);
        List<Line> lines = new ArrayList<>();
        ClusterOptions size = workspace.clusterOptions().withWorkers(2, 2, "4g"); // room for both sides at once
        try (StandaloneCluster cluster = StandaloneCluster.start(size);
                Side builtin = side(cluster, workspace, Shuffle.BUILTIN, data);
                Side rdma = side(cluster, workspace, Shuffle.RDMA, data)) {
            for (int pass = 0; pass < WARM_UP + passes; pass++) {
                takeTurns(queries, pass, builtin, rdma);
            }
            for (String query : queries) {
                lines.add(Line.of(query, builtin, rdma));
            }
            builtin.finish();
            rdma.finish();
        }
        print(lines);
        if (options.json.isPresent()) {
            writeJson(options.json.get(), lines);
        }
        return lines.stream().allMatch(Line::equal) ? 0 : 1;
    }

    private Side side(StandaloneCluster cluster, Workspace workspace, Shuffle shuffle, Path data) throws IOException {
        Path answers = workspace.root().resolve("target/demo").resolve(shuffle.label());
        return Side.start(cluster, workspace, shuffle, data, answers, conf());
    }

    private Map<String, String> conf() {
        Map<String, String> conf = new LinkedHashMap<>();
        conf.put("spark.executor.memory", "1g");
        conf.putAll(options.conf());
        return conf;
    }

    /** One query after the other, each on one side and then on the other; who goes first changes from pass to pass. */
    private static void takeTurns(List<String> queries, int pass, Side builtin, Side rdma)
            throws IOException, InterruptedException, TimeoutException {
        for (String query : queries) {
            Side first = pass % 2 == 0 ? builtin : rdma;
            Side second = first == builtin ? rdma : builtin;
            first.run(query);
            second.run(query);
            System.err.printf(
                    "%s %s: built-in %.2f s, rdma %.2f s%n",
                    pass < WARM_UP ? "warm-up" : "pass " + (pass - WARM_UP + 1),
                    query,
                    builtin.last(query).seconds(),
                    rdma.last(query).seconds());
        }
    }

    private record Line(
            String query,
            int rows,
            Optional<String> difference,
            double builtinSeconds,
            double rdmaSeconds,
            QueryRun run) {
        static Line of(String query, Side builtin, Side rdma) throws IOException {
            Optional<String> failure = builtin.last(query).error().map(text -> "with the built-in shuffle: " + text);
            Optional<String> difference = failure.isPresent() ? failure : rdma.differenceFrom(builtin, query);
            QueryRun last = rdma.last(query);
            return new Line(
                    query,
                    last.rows(),
                    difference,
                    builtin.medianSeconds(query, WARM_UP),
                    rdma.medianSeconds(query, WARM_UP),
                    last);
        }

        boolean equal() {
            return difference.isEmpty();
        }
    }

    private void print(List<Line> lines) {
        System.out.println();
        System.out.printf("TPC-DS scale %s, 2 executors of 1 core, %s%n", scale.toPlainString(), Machine.describe());
        System.out.println("Both sides: " + String.join(" ", confWords()));
        System.out.println("Seconds: median of " + passes + " passes over all queries, after one to warm up. The sides"
                + " take turns query by query, in two applications with executors of their own on the same Workers.");
        System.out.println("Answers: compared as sorted rows, exactly; doubles to 10 significant digits.");
        System.out.println("MB read by path: in one pass, by our side.");
        System.out.println();
        System.out.printf(
                "%-6s %7s  %-6s %9s %9s %6s   %8s %8s %8s %8s %8s%n",
                "query", "rows", "answer", "built-in", "rdma", "ratio", "local", "shm", "rdma", "netty", "overflow");
        double builtinTotal = 0;
        double rdmaTotal = 0;
        for (Line line : lines) {
            double builtin = line.builtinSeconds();
            double rdma = line.rdmaSeconds();
            builtinTotal += builtin;
            rdmaTotal += rdma;
            var bytes = line.run().bytes();
            System.out.printf(
                    "%-6s %7d  %-6s %8.2fs %8.2fs %6.2f   %8.1f %8.1f %8.1f %8.1f %8.1f%n",
                    line.query(),
                    line.rows(),
                    line.equal() ? "same" : "DIFFER",
                    builtin,
                    rdma,
                    rdma / builtin,
                    bytes.local() / 1e6,
                    bytes.shm() / 1e6,
                    bytes.rdma() / 1e6,
                    bytes.netty() / 1e6,
                    bytes.overflow() / 1e6);
        }
        System.out.printf(
                "%-6s %7s  %-6s %8.2fs %8.2fs %6.2f%n",
                "all", "", "", builtinTotal, rdmaTotal, rdmaTotal / builtinTotal);
        lines.forEach(line -> line.difference().ifPresent(text -> System.out.println(line.query() + ": " + text)));
    }

    private List<String> confWords() {
        return conf().entrySet().stream()
                .map(each -> each.getKey() + "=" + each.getValue())
                .toList();
    }

    private void writeJson(Path file, List<Line> lines) throws IOException {
        ObjectMapper mapper = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
        ObjectNode root = mapper.createObjectNode();
        root.put("date", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        root.put("machine", Machine.describe());
        root.put("scale", scale);
        root.put("passes", passes);
        root.set("conf", mapper.valueToTree(conf()));
        root.put("all_equal", lines.stream().allMatch(Line::equal));
        ArrayNode queries = root.putArray("queries");
        for (Line line : lines) {
            ObjectNode node = queries.addObject();
            node.put("name", line.query());
            node.put("rows", line.rows());
            node.put("equal", line.equal());
            node.put("builtin_s", line.builtinSeconds());
            node.put("rdma_s", line.rdmaSeconds());
            node.set("bytes", mapper.valueToTree(line.run().bytesByPath()));
            line.difference().ifPresent(text -> node.put("difference", text));
        }
        Tool.write(file, mapper.writeValueAsString(root));
    }
}
