/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.tpcds;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.rpad;

import io.trino.tpcds.Session;
import io.trino.tpcds.Table;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * The application that generates TPC-DS data to Parquet: {@code GenerateTpcds SCALE FOLDER CHUNKS}.
 * One task per chunk of a table, several tables at a time. The generator gives a table of fewer
 * than a million rows (orders, for the sales) to its first chunk alone, so that tables in parallel
 * are what keeps the cores busy at small scales.
 */
public final class GenerateTpcds {
    /** The most work for the generator first, so that no long table is left for the end. */
    private static final List<Table> LONGEST_FIRST = List.of(
            Table.STORE_SALES,
            Table.CATALOG_SALES,
            Table.STORE_RETURNS,
            Table.INVENTORY,
            Table.WEB_SALES,
            Table.CATALOG_RETURNS,
            Table.WEB_RETURNS,
            Table.CUSTOMER_DEMOGRAPHICS);

    /** What the data depends on besides its scale: data of another version is made anew. */
    public static final String VERSION = "io.trino.tpcds 1.4, seed " + SeededRows.SEED + ", text as Spark read it";

    private GenerateTpcds() {}

    public static void main(String[] args) throws IOException, InterruptedException, ExecutionException {
        double scale = Double.parseDouble(args[0]);
        Path folder = Path.of(args[1]);
        int chunks = Integer.parseInt(args[2]);
        Files.createDirectories(folder);
        List<Table> tables = TpcdsSchema.tables().stream()
                .sorted(Comparator.comparingInt(
                        table -> LONGEST_FIRST.contains(table) ? LONGEST_FIRST.indexOf(table) : Integer.MAX_VALUE))
                .toList();
        try (SparkSession spark =
                SparkSession.builder().appName("generate TPC-DS").getOrCreate()) {
            AtomicInteger done = new AtomicInteger();
            ExecutorService pool =
                    Executors.newFixedThreadPool(spark.sparkContext().defaultParallelism());
            try {
                List<Future<?>> all = tables.stream()
                        .<Future<?>>map(table -> pool.submit(() -> {
                            long start = System.nanoTime();
                            write(spark, table, scale, chunks, folder);
                            System.out.printf(
                                    "%2d/%d %s %.1f s%n",
                                    done.incrementAndGet(),
                                    tables.size(),
                                    table.getName(),
                                    (System.nanoTime() - start) / 1e9);
                        }))
                        .toList();
                for (Future<?> each : all) {
                    each.get();
                }
            } finally {
                pool.shutdownNow();
            }
        }
    }

    private static void write(SparkSession spark, Table table, double scale, int chunks, Path folder) {
        JavaSparkContext context = JavaSparkContext.fromSparkContext(spark.sparkContext());
        List<Integer> numbers = IntStream.rangeClosed(1, chunks).boxed().toList();
        JavaRDD<Row> rows = context.parallelize(numbers, chunks).flatMap(chunk -> rows(table, scale, chunks, chunk));
        StructType strings = new StructType();
        for (var column : table.getColumns()) {
            strings = strings.add(TpcdsSchema.name(column), DataTypes.StringType);
        }
        Dataset<Row> typed = spark.createDataFrame(rows, strings)
                .select(Arrays.stream(table.getColumns())
                        .map(GenerateTpcds::typed)
                        .toArray(org.apache.spark.sql.Column[]::new));
        typed.write().parquet(folder.resolve(table.getName()).toUri().toString());
    }

    /** As Spark's own GenTPCDSData: CHAR is padded, VARCHAR is left alone, the rest is cast. */
    private static org.apache.spark.sql.Column typed(io.trino.tpcds.column.Column column) {
        String name = TpcdsSchema.name(column);
        String type = TpcdsSchema.type(column);
        if (type.startsWith("CHAR(")) {
            int length = Integer.parseInt(type.substring("CHAR(".length(), type.length() - 1));
            return rpad(col(name), length, " ").as(name);
        }
        return type.startsWith("VARCHAR(") ? col(name) : col(name).cast(type).as(name);
    }

    private static Iterator<Row> rows(Table table, double scale, int chunks, int chunk) {
        Session session = Session.getDefaultSession()
                .withScale(scale)
                .withParallelism(chunks)
                .withChunkNumber(chunk)
                .withTable(table);
        // An order of the sales tables comes as lines, each with at most one return: the session names the table meant.
        Iterator<List<List<String>>> lines = SeededRows.of(table, session);
        return StreamSupport.stream(Spliterators.spliteratorUnknownSize(lines, Spliterator.ORDERED), false)
                .map(line -> row(line.get(0)))
                .iterator();
    }

    /**
     * dsdgen writes ISO 8859-1 and Spark's generator reads it as UTF-8, so that the golden answers
     * have a replacement character in RÉUNION and CÔTE D'IVOIRE.
     */
    private static String asSparkReadIt(String value) {
        return new String(value.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }

    private static Row row(List<String> values) {
        Object[] fields = new Object[values.size()];
        for (int i = 0; i < fields.length; i++) {
            String value = values.get(i);
            fields[i] = value == null || value.isEmpty() ? null : asSparkReadIt(value);
        }
        return RowFactory.create(fields);
    }
}
