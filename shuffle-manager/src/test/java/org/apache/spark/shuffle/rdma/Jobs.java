/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.ShuffledRDD;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import scala.Tuple2;
import scala.reflect.ClassTag$;

/** Jobs that together go through every writer and reader of Spark; each answers its rows in words. */
final class Jobs {
    private static final int RECORDS = 4_000;

    private Jobs() {}

    /** The jobs by name. */
    static Map<String, Function<LocalSpark, List<String>>> all() {
        Map<String, Function<LocalSpark, List<String>>> jobs = new LinkedHashMap<>();
        jobs.put("bypass", spark -> perPartition(pairs(spark.context()).partitionBy(new HashPartitioner(7))));
        jobs.put(
                "bypass, one partition",
                spark -> perPartition(pairs(spark.context()).partitionBy(new HashPartitioner(1))));
        jobs.put(
                "sort without combine",
                spark -> perPartition(pairs(spark.context()).partitionBy(new HashPartitioner(30))));
        jobs.put("serialized", spark -> perPartition(byKryo(pairs(spark.context()), 25)));
        jobs.put("relocatable, few partitions", spark -> perPartition(byKryo(pairs(spark.context()), 5)));
        jobs.put("sort with combine", spark -> sorted(pairs(spark.context()).reduceByKey(Jobs::longer, 6)));
        jobs.put("sort by key", spark -> pairs(spark.context()).sortByKey(true, 4).collect().stream()
                .map(Tuple2::_1)
                .map(String::valueOf)
                .toList());
        jobs.put(
                "group by key",
                spark -> sorted(pairs(spark.context()).groupByKey(5).mapValues(Jobs::count)));
        jobs.put(
                "without records",
                spark -> perPartition(
                        pairs(spark.context()).filter(pair -> false).partitionBy(new HashPartitioner(3))));
        jobs.put(
                "join by hash",
                spark -> sorted(pairs(spark.context())
                        .join(pairs(spark.context()).filter(pair -> pair._1() % 50 == 0), 6)
                        .mapValues(both -> both._1().length() + both._2().length())));
        jobs.put(
                "sql aggregate",
                spark -> sql(rows(spark.session())
                        .groupBy("k")
                        .agg(functions.sum("v"), functions.max("text"), functions.count("*"))));
        jobs.put(
                "sql join",
                spark -> sql(rows(spark.session())
                        .join(rows(spark.session()).filter("v % 10 = 0").withColumnRenamed("v", "w"), "k")
                        .groupBy("k")
                        .agg(functions.sum("v"), functions.sum("w"))));
        jobs.put("sql sort", spark -> rows(spark.session()).orderBy("k", "v").collectAsList().stream()
                .map(Row::toString)
                .toList());
        jobs.put(
                "sql many partitions",
                spark -> sql(rows(spark.session())
                        .repartition(40, functions.col("v"))
                        .groupBy("k")
                        .agg(functions.sum("v"))));
        jobs.put(
                "sql wide rows",
                spark -> sql(rows(spark.session())
                        .select(
                                functions.col("k"),
                                functions.repeat(functions.col("text"), 400).as("wide"))
                        .repartition(3, functions.col("k"))
                        .groupBy("k")
                        .agg(functions.max("wide"))
                        .select(functions.col("k"), functions.sha1(functions.col("max(wide)")))));
        jobs.put(
                "sql limit",
                spark -> sql(rows(spark.session()).repartition(4).limit(10).select(functions.lit(1))));
        jobs.put("sql read in part", spark -> rows(spark.session())
                .repartition(2, functions.col("k"))
                .toJavaRDD()
                .mapPartitions(records -> IntStream.range(0, 5)
                        .mapToObj(i -> String.valueOf(records.next().length()))
                        .iterator())
                .collect());
        return jobs;
    }

    static JavaPairRDD<Integer, String> pairs(JavaSparkContext context) {
        return context.parallelize(IntStream.range(0, RECORDS).boxed().toList(), 4)
                .mapToPair(i -> new Tuple2<>(i % 997, "value " + i + " " + "x".repeat(i % 100)));
    }

    /** A shuffle whose serializer Spark's serialized writer takes. */
    static <V> JavaPairRDD<Integer, V> byKryo(JavaPairRDD<Integer, V> pairs, int partitions) {
        ShuffledRDD<Integer, V, V> shuffled = new ShuffledRDD<>(
                pairs.rdd(),
                new HashPartitioner(partitions),
                ClassTag$.MODULE$.apply(Integer.class),
                ClassTag$.MODULE$.apply(Object.class),
                ClassTag$.MODULE$.apply(Object.class));
        shuffled.setSerializer(new KryoSerializer(pairs.context().getConf()));
        @SuppressWarnings("unchecked")
        org.apache.spark.rdd.RDD<Tuple2<Integer, V>> rdd =
                (org.apache.spark.rdd.RDD<Tuple2<Integer, V>>) (org.apache.spark.rdd.RDD<?>) shuffled;
        return JavaPairRDD.fromRDD(rdd, ClassTag$.MODULE$.apply(Integer.class), ClassTag$.MODULE$.apply(Object.class));
    }

    static Dataset<Row> rows(SparkSession session) {
        return session.range(0, RECORDS, 1, 3)
                .selectExpr("id % 300 as k", "id as v", "concat('text ', id, repeat('y', int(id % 60))) as text");
    }

    static List<String> perPartition(JavaPairRDD<Integer, String> pairs) {
        return pairs.mapPartitions(
                        (org.apache.spark.api.java.function.FlatMapFunction<Iterator<Tuple2<Integer, String>>, String>
                                        & Serializable)
                                Jobs::sortedPartition)
                .collect();
    }

    private static Iterator<String> sortedPartition(Iterator<Tuple2<Integer, String>> records) {
        List<String> list = new ArrayList<>();
        records.forEachRemaining(record -> list.add(record.toString()));
        Collections.sort(list);
        return list.iterator();
    }

    private static List<String> sorted(JavaPairRDD<Integer, ?> pairs) {
        return pairs.collect().stream().map(Tuple2::toString).sorted().toList();
    }

    private static List<String> sql(Dataset<Row> rows) {
        return rows.collectAsList().stream().map(Row::toString).sorted().toList();
    }

    private static String longer(String a, String b) {
        int order = Integer.compare(a.length(), b.length());
        return order > 0 || (order == 0 && a.compareTo(b) > 0) ? a : b;
    }

    private static int count(Iterable<String> values) {
        int count = 0;
        for (String value : values) {
            count += value.length();
        }
        return count;
    }
}
