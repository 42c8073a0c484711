/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.tools;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
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

    private static final Duration LIMIT = Duration.ofMinutes(30);

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
        Path out = workspace.root().resolve("target/demo");
        Side.Plan plan = new Side.Plan(data, queries, 1, passes, options.conf(), LIMIT);
        List<Line> lines = new ArrayList<>();
        try (StandaloneCluster cluster = Side.startCluster(workspace)) {
            Side builtin = Side.run(cluster, workspace, Shuffle.BUILTIN, plan, out.resolve("builtin"));
            Side rdma = Side.run(cluster, workspace, Shuffle.RDMA, plan, out.resolve("rdma"));
            for (String query : queries) {
                lines.add(Line.of(query, builtin, rdma));
            }
        }
        print(lines);
        if (options.json.isPresent()) {
            writeJson(options.json.get(), lines);
        }
        return lines.stream().allMatch(Line::equal) ? 0 : 1;
    }

    private record Line(String query, QueryRun builtin, QueryRun rdma, Optional<String> difference) {
        static Line of(String query, Side builtin, Side rdma) throws IOException {
            QueryRun expected = builtin.runs().get(query);
            Optional<String> difference = expected.error().isPresent()
                    ? Optional.of(
                            "with the built-in shuffle: " + expected.error().get())
                    : rdma.differenceFrom(builtin.answer(query), query);
            return new Line(query, expected, rdma.runs().get(query), difference);
        }

        boolean equal() {
            return difference.isEmpty();
        }
    }

    private void print(List<Line> lines) {
        System.out.println();
        System.out.printf("TPC-DS scale %s, 2 executors of 1 core, %s%n", scale.toPlainString(), Machine.describe());
        System.out.println("Both sides: " + String.join(" ", confWords()));
        System.out.println("Seconds: median of " + passes + " passes over all queries after one pass to warm up;"
                + " one application per side, the built-in side first.");
        System.out.println("Answers: compared as sorted rows, exactly; doubles to 10 significant digits.");
        System.out.println("MB read by path: in one pass, by our side.");
        System.out.println();
        System.out.printf(
                "%-6s %7s  %-6s %9s %9s %6s   %8s %8s %8s %8s %8s%n",
                "query", "rows", "answer", "built-in", "rdma", "ratio", "local", "shm", "rdma", "netty", "overflow");
        double builtinTotal = 0;
        double rdmaTotal = 0;
        for (Line line : lines) {
            double builtin = line.builtin().medianSeconds();
            double rdma = line.rdma().medianSeconds();
            builtinTotal += builtin;
            rdmaTotal += rdma;
            var bytes = line.rdma().bytes();
            System.out.printf(
                    "%-6s %7d  %-6s %8.2fs %8.2fs %6.2f   %8.1f %8.1f %8.1f %8.1f %8.1f%n",
                    line.query(),
                    line.rdma().rows(),
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
        return options.conf().entrySet().stream()
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
        root.set("conf", mapper.valueToTree(options.conf()));
        root.put("all_equal", lines.stream().allMatch(Line::equal));
        ArrayNode queries = root.putArray("queries");
        for (Line line : lines) {
            ObjectNode node = queries.addObject();
            node.put("name", line.query());
            node.put("rows", line.rdma().rows());
            node.put("equal", line.equal());
            node.put("builtin_s", line.builtin().medianSeconds());
            node.put("rdma_s", line.rdma().medianSeconds());
            node.set("bytes", mapper.valueToTree(line.rdma().bytesByPath()));
            line.difference().ifPresent(text -> node.put("difference", text));
        }
        Tool.write(file, mapper.writeValueAsString(root));
    }
}
