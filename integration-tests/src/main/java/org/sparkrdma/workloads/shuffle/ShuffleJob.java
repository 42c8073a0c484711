/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.shuffle;

import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.spark.HashPartitioner;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.SparkSession;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import scala.Tuple2;
import scala.concurrent.Await;
import scala.concurrent.duration.Duration;

/**
 * Shuffles rows whose answer is known, and prints as one line of JSON what it computed and how the bytes travelled. It
 * can be held at these points (see {@link PausePoint}): {@value #WRITING} in the middle of a map task's output,
 * {@value #BETWEEN} the last map task and the first reduce task, {@value #READING} in the middle of a reduce task's
 * input, {@value #DONE} before the application ends, and {@code round-N} before the N-th of several shuffles.
 */
@Command(name = "shuffle-job", mixinStandardHelpOptions = true)
public final class ShuffleJob implements Callable<Integer> {
    public static final String WRITING = "writing";
    public static final String BETWEEN = "between";
    public static final String READING = "reading";
    public static final String DONE = "done";

    /** How rows are shuffled: {@code SQL} as an exchange, {@code RDD} by partitionBy. */
    public enum Kind {
        SQL,
        RDD
    }

    @Option(names = "--kind", defaultValue = "SQL")
    private Kind kind;

    @Option(names = "--rows", defaultValue = "100000")
    private long rows;

    @Option(names = "--width", defaultValue = "100", description = "bytes of payload of a row")
    private int width;

    @Option(names = "--maps", defaultValue = "4")
    private int maps;

    @Option(names = "--partitions", defaultValue = "4")
    private int partitions;

    @Option(names = "--shuffles", defaultValue = "1", description = "how often, one after the other")
    private int shuffles;

    @Option(names = "--pauses", defaultValue = "", description = "folder in which to look for pauses")
    private String pauses;

    /** Submitted by spark-submit. */
    public static void main(String[] args) {
        int code = new CommandLine(new ShuffleJob()).execute(args);
        if (code != 0) {
            System.exit(code);
        }
    }

    /** The row's key and its payload. */
    private static final class Rows implements Iterator<Tuple2<Long, byte[]>> {
        private final Iterator<Long> ids;
        private final int width;
        private final long pauseAt;
        private final PausePoint pause;
        private long count;

        Rows(Iterator<Long> ids, int width, long pauseAt, PausePoint pause) {
            this.ids = ids;
            this.width = width;
            this.pauseAt = pauseAt;
            this.pause = pause;
        }

        @Override
        public boolean hasNext() {
            return ids.hasNext();
        }

        @Override
        public Tuple2<Long, byte[]> next() {
            if (count++ == pauseAt) {
                pause.pass();
            }
            long id = ids.next();
            return new Tuple2<>(id, ShuffleAnswer.payload(id, width));
        }
    }

    @Override
    public Integer call() throws Exception {
        try (SparkSession spark =
                SparkSession.builder().appName("shuffle " + kind).getOrCreate()) {
            JobWatch watch = new JobWatch();
            spark.sparkContext().addSparkListener(watch);
            ShuffleAnswer answer = ShuffleAnswer.NONE;
            for (int round = 0; round < shuffles; round++) {
                new PausePoint(pauses, "round-" + round).pass();
                answer = answer.plus(kind == Kind.SQL ? sql(spark) : rdd(spark));
                if (round % 10 == 9) {
                    System.gc(); // Spark unregisters the shuffles that nothing refers to any more.
                }
            }
            new PausePoint(pauses, DONE).pass();
            System.out.printf(
                    "{\"rows\":%d,\"sum\":%d,\"mix\":%d,\"damaged\":%d,%s}%n",
                    answer.rows(), answer.sum(), answer.mix(), answer.damaged(), watch.json(spark.sparkContext()));
        }
        return 0;
    }

    private ShuffleAnswer sql(SparkSession spark) {
        int bytes = width;
        long half = rows / maps / 2;
        PausePoint writing = new PausePoint(pauses, WRITING);
        Dataset<Tuple2<Long, byte[]>> made = spark.range(0, rows, 1, maps)
                .mapPartitions(
                        (MapPartitionsFunction<Long, Tuple2<Long, byte[]>>) ids -> new Rows(ids, bytes, half, writing),
                        Encoders.tuple(Encoders.LONG(), Encoders.BINARY()));
        // Adaptive execution runs the map stage here, before there is an RDD of what it reads.
        JavaRDD<Tuple2<Long, byte[]>> spread =
                made.repartition(partitions, made.col("_1")).toJavaRDD();
        return answer(spread);
    }

    private ShuffleAnswer rdd(SparkSession spark) throws Exception {
        int bytes = width;
        long half = rows / maps / 2;
        PausePoint writing = new PausePoint(pauses, WRITING);
        JavaPairRDD<Long, byte[]> spread = spark.range(0, rows, 1, maps)
                .toJavaRDD()
                .mapPartitionsToPair(ids -> new Rows(ids, bytes, half, writing))
                .partitionBy(new HashPartitioner(partitions));
        ShuffleDependency<?, ?, ?> dependency =
                (ShuffleDependency<?, ?, ?>) spread.rdd().dependencies().head();
        Await.result(spark.sparkContext().submitMapStage(dependency), Duration.create("10 minutes"));
        return answer(JavaRDD.fromRDD(spread.rdd(), spread.classTag()));
    }

    private ShuffleAnswer answer(JavaRDD<Tuple2<Long, byte[]>> spread) {
        new PausePoint(pauses, BETWEEN).pass();
        long half = rows / partitions / 2;
        PausePoint reading = new PausePoint(pauses, READING);
        List<long[]> parts = spread.mapPartitions(
                        read -> List.of(consume(read, half, reading).toLongs()).iterator())
                .collect();
        return parts.stream().map(ShuffleAnswer::ofLongs).reduce(ShuffleAnswer.NONE, ShuffleAnswer::plus);
    }

    private static ShuffleAnswer consume(Iterator<Tuple2<Long, byte[]>> read, long pauseAt, PausePoint pause) {
        ShuffleAnswer answer = ShuffleAnswer.NONE;
        while (read.hasNext()) {
            if (answer.rows() == pauseAt) {
                pause.pass();
            }
            Tuple2<Long, byte[]> row = read.next();
            answer = answer.with(row._1(), row._2());
        }
        return answer;
    }
}
