/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.tpcds;

import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.apache.spark.shuffle.rdma.metrics.PathBytes;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The application that runs TPC-DS queries: pass by pass, all queries in each. It leaves each
 * answer in {@code OUT/<name>.out}, and one line per query in {@code OUT/report.jsonl}. A query
 * that fails is reported and the next one runs.
 */
@Command(name = "RunTpcds", mixinStandardHelpOptions = true)
public final class RunTpcds implements Callable<Integer> {
    @Option(names = "--data", required = true, description = "the folder with one folder of Parquet files per table")
    Path data;

    @Option(names = "--out", required = true, description = "where answers and report go")
    Path out;

    @Option(names = "--queries", split = ",", description = "names, such as q3,q14a; default all 103")
    List<String> queries = List.of();

    @Option(names = "--warm-up", defaultValue = "0", description = "passes that are not counted")
    int warmUp;

    @Option(names = "--passes", defaultValue = "1", description = "passes that are counted")
    int passes;

    private final Map<String, QueryRun> runs = new LinkedHashMap<>();

    private RunTpcds() {}

    public static void main(String[] args) {
        int code = new CommandLine(new RunTpcds()).execute(args);
        if (code != 0) {
            System.exit(code);
        }
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        List<TpcdsQuery> chosen = queries.isEmpty() ? TpcdsQuery.all() : TpcdsQuery.named(queries);
        Files.createDirectories(out);
        try (SparkSession spark = SparkSession.builder().appName("TPC-DS").getOrCreate()) {
            TpcdsSchema.createTables(spark, data);
            for (int pass = -warmUp; pass < passes; pass++) {
                for (TpcdsQuery query : chosen) {
                    QueryRun run = run(spark, query);
                    System.out.printf(
                            "%s %s %s%n",
                            pass < 0 ? "warm-up" : "pass " + (pass + 1),
                            query.name(),
                            run.error()
                                    .orElseGet(() -> String.format(
                                            "%.2f s", run.seconds().get(0))));
                    if (pass >= 0) {
                        runs.merge(query.name(), run, RunTpcds::later);
                    }
                }
            }
        }
        try (Writer report = Files.newBufferedWriter(out.resolve(QueryRun.FILE))) {
            for (QueryRun run : runs.values()) {
                report.write(run.toJson() + "\n");
            }
        }
        return 0;
    }

    private QueryRun run(SparkSession spark, TpcdsQuery query) throws IOException, InterruptedException {
        PathBytes before = PathCounter.read();
        try {
            long start = System.nanoTime();
            Dataset<Row> result = spark.sql(query.text());
            List<Row> rows = result.collectAsList();
            double seconds = (System.nanoTime() - start) / 1e9;
            Answer.of(result.schema(), rows).write(out.resolve(query.name() + ".out"));
            PathBytes bytes = PathCounter.read().minus(before);
            return new QueryRun(query.name(), rows.size(), List.of(seconds), bytes, Optional.empty());
        } catch (Exception e) { // collectAsList throws checked exceptions that it does not declare
            if (e instanceof InterruptedException interrupted) {
                throw interrupted;
            }
            String message = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
            e.printStackTrace();
            return new QueryRun(
                    query.name(),
                    0,
                    List.of(),
                    PathBytes.NONE,
                    Optional.of(e.getClass().getName() + ": " + message));
        }
    }

    private static QueryRun later(QueryRun earlier, QueryRun later) {
        List<Double> seconds = new ArrayList<>(earlier.seconds());
        seconds.addAll(later.seconds());
        Optional<String> error = earlier.error().or(later::error);
        return new QueryRun(later.name(), later.rows(), seconds, later.bytes(), error);
    }
}
