/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.tpcds;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
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
 * The application that runs TPC-DS queries, one after the other: those of {@code --queries}, or
 * those whose names come line by line on stdin, so that its caller can take turns between two
 * applications. It leaves each answer in {@code OUT/<name>.out} and reports each run on stdout as
 * {@link #MARK} and a line of JSON. A query that fails is reported too, and the next one runs.
 */
@Command(name = "RunTpcds", mixinStandardHelpOptions = true)
public final class RunTpcds implements Callable<Integer> {
    /** What a line that reports a run starts with. */
    public static final String MARK = "tpcds-run ";

    @Option(names = "--data", required = true, description = "the folder with one folder of Parquet files per table")
    Path data;

    @Option(names = "--out", required = true, description = "where answers go")
    Path out;

    @Option(names = "--queries", split = ",", description = "names, such as q3,q14a; default: read them from stdin")
    List<String> queries = List.of();

    private RunTpcds() {}

    public static void main(String[] args) {
        int code = new CommandLine(new RunTpcds()).execute(args);
        if (code != 0) {
            System.exit(code);
        }
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        BufferedReader stdin = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Iterator<String> names = queries.isEmpty()
                ? stdin.lines().iterator()
                : List.copyOf(queries).iterator();
        Files.createDirectories(out);
        try (SparkSession spark = SparkSession.builder().appName("TPC-DS").getOrCreate()) {
            TpcdsSchema.createTables(spark, data);
            while (names.hasNext()) {
                for (TpcdsQuery query : TpcdsQuery.named(List.of(names.next()))) {
                    System.out.println(MARK + run(spark, query).toJson());
                }
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
            return new QueryRun(
                    query.name(), rows.size(), seconds, PathCounter.read().minus(before), Optional.empty());
        } catch (Exception e) { // Spark's Scala code throws checked exceptions that it does not declare
            if (e instanceof InterruptedException interrupted) {
                throw interrupted;
            }
            e.printStackTrace();
            String message = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
            return new QueryRun(
                    query.name(),
                    0,
                    Double.NaN,
                    PathBytes.NONE,
                    Optional.of(e.getClass().getName() + ": " + message));
        }
    }
}
