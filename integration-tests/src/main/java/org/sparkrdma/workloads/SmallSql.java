/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * An application of a few seconds: an aggregation, a sort-merge join and a global sort over
 * generated rows, whose answers it prints. {@code --sleep SECONDS} keeps it alive afterwards.
 */
public final class SmallSql {
    private SmallSql() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        try (SparkSession spark = SparkSession.builder()
                .appName("small SQL")
                .config("spark.sql.autoBroadcastJoinThreshold", "-1")
                .config("spark.sql.shuffle.partitions", "7")
                .getOrCreate()) {
            Dataset<Row> rows = spark.range(0, 300_000, 1, 6)
                    .selectExpr(
                            "id", "id % 1009 AS k", "concat('name ', id % 31) AS name", "cast(id AS decimal(12,2)) d");
            rows.createOrReplaceTempView("t");
            print(
                    "aggregation",
                    spark.sql("SELECT k, name, count(*) c, sum(d) s FROM t GROUP BY k, name")
                            .selectExpr("count(*)", "sum(c)", "sum(s)", "sum(hash(k, name, c, s))"));
            print(
                    "join",
                    spark.sql("SELECT a.id, b.d FROM t a JOIN t b ON a.id = b.id * 3 WHERE b.id < 90000")
                            .selectExpr("count(*)", "sum(id)", "sum(d)", "sum(hash(id, d))"));
            print("sort", spark.sql("SELECT name, k, id FROM t ORDER BY name DESC, k, id LIMIT 5 OFFSET 777"));
            if (args.length == 2 && args[0].equals("--sleep")) {
                TimeUnit.SECONDS.sleep(Long.parseLong(args[1]));
            }
        }
    }

    private static void print(String what, Dataset<Row> answer) {
        List<Row> rows = answer.collectAsList();
        System.out.println(what + " rows=" + rows.size());
        rows.forEach(row -> System.out.println(row.mkString("\t")));
    }
}
