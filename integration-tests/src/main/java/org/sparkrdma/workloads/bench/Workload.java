/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.bench;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.count;
import static org.apache.spark.sql.functions.sum;

import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;

/** What is measured. Aggregates are cheap on purpose: the shuffle is what takes the time. */
public enum Workload {
    /** 20 million small rows, by hash into 32 partitions. */
    NARROW(spark -> narrow(spark, 32)),
    /** The same into 500 partitions. */
    PARTS500(spark -> narrow(spark, 500)),
    /** 4 million rows of about 300 bytes, by hash into 32 partitions. */
    WIDE(spark -> wideTotals(wideRows(spark).repartition(32, col("id")))),
    /** Sort-merge join of two tables of 5 million rows. */
    JOIN(Workload::join),
    /** The map side of {@link #NARROW} without a shuffle: what no shuffle can be faster than. */
    NARROW_FLOOR(spark -> totals(narrowRows(spark), "id")),
    /** The map side of {@link #WIDE} without a shuffle. */
    WIDE_FLOOR(spark -> wideTotals(wideRows(spark)));

    private static final long NARROW_ROWS = 20_000_000;
    private static final long WIDE_ROWS = 4_000_000;
    private static final long JOIN_ROWS = 5_000_000;
    private static final int MAPS = 8;
    private static final int WIDE_COLUMNS = 36;

    @SuppressWarnings("ImmutableEnumChecker") // A function without state.
    private final Function<SparkSession, String> query;

    Workload(Function<SparkSession, String> query) {
        this.query = query;
    }

    /** The name on command lines and in reports. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The workload of a name. */
    public static Workload named(String label) {
        return Arrays.stream(values())
                .filter(each -> each.label().equals(label))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no workload " + label + "; there are "
                        + Arrays.stream(values()).map(Workload::label).collect(Collectors.joining(", "))));
    }

    /** Runs it once; the answer is the same on every shuffle. */
    public String run(SparkSession spark) {
        return query.apply(spark);
    }

    private static String narrow(SparkSession spark, int partitions) {
        return totals(narrowRows(spark).repartition(partitions, col("id")), "id");
    }

    private static Dataset<Row> narrowRows(SparkSession spark) {
        return spark.range(0, NARROW_ROWS, 1, MAPS).toDF();
    }

    private static Dataset<Row> wideRows(SparkSession spark) {
        Column[] columns = LongStream.range(0, WIDE_COLUMNS)
                .mapToObj(
                        i -> i == 0 ? col("id") : col("id").multiply(2 * i + 1).as("c" + i))
                .toArray(Column[]::new);
        return spark.range(0, WIDE_ROWS, 1, MAPS).toDF().select(columns);
    }

    /** Sums one column of rows of which all columns are asked for: Spark would not shuffle a column that nobody wants. */
    private static String wideTotals(Dataset<Row> rows) {
        long total = rows.queryExecution()
                .toRdd()
                .toJavaRDD()
                .mapPartitions(Workload::sumOfColumn17)
                .reduce(Long::sum);
        return Long.toString(total);
    }

    private static Iterator<Long> sumOfColumn17(Iterator<InternalRow> rows) {
        long sum = 0;
        while (rows.hasNext()) {
            sum += rows.next().getLong(17);
        }
        return List.of(sum).iterator();
    }

    private static String join(SparkSession spark) {
        Dataset<Row> left = spark.range(0, JOIN_ROWS, 1, MAPS)
                .toDF()
                .select(col("id").as("a"), col("id").multiply(7).as("x"));
        Dataset<Row> right = spark.range(0, JOIN_ROWS, 1, MAPS)
                .toDF()
                .select(col("id").multiply(3).as("b"), col("id").multiply(5).as("y"));
        return totals(left.join(right.hint("merge"), col("a").equalTo(col("b"))), "x", "y");
    }

    private static String totals(Dataset<Row> rows, String... summed) {
        List<Column> sums = Arrays.stream(summed).map(name -> sum(col(name))).toList();
        return rows.agg(count("*"), sums.toArray(Column[]::new)).collectAsList().toString();
    }
}
