/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.tools;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
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
import org.sparkrdma.workloads.tpcds.TpcdsQuery;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code bin/tpcds}: all TPC-DS queries, checked against Spark's golden answers or against the built-in shuffle. */
@Command(name = "tpcds", mixinStandardHelpOptions = true)
public final class TpcdsCommand implements Callable<Integer> {
    @Option(names = "--scale", defaultValue = "1", description = "TPC-DS scale (default: ${DEFAULT-VALUE})")
    BigDecimal scale;

    @Option(
            names = "--golden",
            description = "compare both sides with the golden answers of Spark's tests (scale 1 only);"
                    + " without it, ours with the built-in one's")
    boolean golden;

    @Option(names = "--no-builtin", description = "with --golden: leave the built-in side out")
    boolean noBuiltin;

    @Option(names = "--generate-only", description = "generate the data and end")
    boolean generateOnly;

    @Mixin
    ComparisonOptions options;

    private TpcdsCommand() {}

    public static void main(String[] args) {
        Tool.run(new TpcdsCommand(), args);
    }

    @Override
    public Integer call() throws IOException, InterruptedException, TimeoutException {
        ComparisonOptions.checkScale(scale);
        if (golden && scale.compareTo(BigDecimal.ONE) != 0) {
            throw new IllegalArgumentException("the golden answers are for --scale 1, not " + scale);
        }
        if (noBuiltin && !golden) {
            throw new IllegalArgumentException("--no-builtin goes with --golden: there is nothing to compare with");
        }
        Workspace workspace = Workspace.fromSystemProperties();
        Path data = TpcdsData.ensure(workspace, scale);
        if (generateOnly) {
            return 0;
        }
        List<String> queries =
                options.queries(TpcdsQuery.all().stream().map(TpcdsQuery::name).toList());
        List<Check> checks = new ArrayList<>();
        ClusterOptions size = workspace.clusterOptions().withWorkers(2, 1, "4g");
        try (StandaloneCluster cluster = StandaloneCluster.start(size);
                Side rdma = runAll(cluster, workspace, Shuffle.RDMA, data, queries);
                Side builtin = noBuiltin ? null : runAll(cluster, workspace, Shuffle.BUILTIN, data, queries)) {
            for (TpcdsQuery query : TpcdsQuery.named(queries)) {
                checks.add(check(query, rdma, Optional.ofNullable(builtin)));
            }
        }
        return report(checks);
    }

    private Side runAll(
            StandaloneCluster cluster, Workspace workspace, Shuffle shuffle, Path data, List<String> queries)
            throws IOException, InterruptedException, TimeoutException {
        Map<String, String> conf = new LinkedHashMap<>();
        conf.put("spark.executor.memory", "3g");
        conf.putAll(options.conf());
        Path answers = workspace.root().resolve("target/tpcds-answers").resolve(shuffle.label());
        Side side = Side.start(cluster, workspace, shuffle, data, answers, conf);
        for (String query : queries) {
            QueryRun run = side.run(query);
            System.err.printf(
                    "%s %s: %s%n",
                    shuffle.label(),
                    query,
                    run.error().orElseGet(() -> String.format("%d rows in %.2f s", run.rows(), run.seconds())));
        }
        side.finish();
        return side;
    }

    /** How each side's answer to a query differs from the expected one; the built-in side's is empty when not run. */
    private record Check(String query, Optional<String> rdma, Optional<String> builtin) {}

    private Check check(TpcdsQuery query, Side rdma, Optional<Side> builtin) throws IOException {
        String name = query.name();
        if (golden) {
            return new Check(
                    name,
                    rdma.differenceFromGolden(query),
                    builtin.isPresent() ? builtin.get().differenceFromGolden(query) : Optional.empty());
        }
        Optional<String> failure = builtin.orElseThrow().last(name).error();
        return failure.isPresent()
                ? new Check(name, rdma.last(name).error(), failure)
                : new Check(name, rdma.differenceFrom(builtin.get(), name), Optional.empty());
    }

    private int report(List<Check> checks) throws IOException {
        List<Check> mismatches = checks.stream()
                .filter(check -> check.rdma().isPresent() || check.builtin().isPresent())
                .toList();
        long equal = checks.stream().filter(check -> check.rdma().isEmpty()).count();
        long equalBuiltin =
                checks.stream().filter(check -> check.builtin().isEmpty()).count();
        for (Check check : mismatches) {
            System.out.println(check.query() + " rdma: " + check.rdma().orElse("as expected"));
            if (!noBuiltin) {
                System.out.println(
                        check.query() + " built-in: " + check.builtin().orElse("as expected"));
            }
        }
        String against = golden ? "the golden answers" : "the built-in shuffle's answers";
        System.out.println(equal + " of " + checks.size() + " equal to " + against
                + (golden && !noBuiltin ? "; with the built-in shuffle " + equalBuiltin : ""));
        if (options.json.isPresent()) {
            writeJson(options.json.get(), checks.size(), equal, equalBuiltin, mismatches);
        }
        return equal == checks.size() ? 0 : 1;
    }

    private void writeJson(Path file, int total, long equal, long equalBuiltin, List<Check> mismatches)
            throws IOException {
        ObjectMapper mapper = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
        ObjectNode root = mapper.createObjectNode();
        root.put("date", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        root.put("machine", Machine.describe());
        root.put("scale", scale);
        root.put("compared_with", golden ? "golden" : "builtin");
        root.set("conf", mapper.valueToTree(options.conf()));
        root.put("total", total);
        root.put("equal", equal);
        if (noBuiltin) {
            root.putNull("equal_builtin");
        } else {
            root.put("equal_builtin", equalBuiltin);
        }
        var list = root.putArray("mismatches");
        for (Check check : mismatches) {
            ObjectNode node = list.addObject().put("name", check.query());
            check.rdma().ifPresent(text -> node.put("rdma", text));
            check.builtin().ifPresent(text -> node.put("builtin", text));
        }
        Tool.write(file, mapper.writeValueAsString(root));
    }
}
