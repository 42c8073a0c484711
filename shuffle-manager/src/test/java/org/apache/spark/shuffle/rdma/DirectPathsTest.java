/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.hash;
import static org.apache.spark.sql.functions.udf;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.apache.spark.TaskContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The direct writer and reader against Spark's own: the same rows, whichever of them wrote and read. */
class DirectPathsTest {
    private static final long SEED = 20_261_201;
    private static final DataType[] TYPES = {
        DataTypes.LongType,
        DataTypes.IntegerType,
        DataTypes.DoubleType,
        DataTypes.StringType,
        DataTypes.BinaryType,
        DataTypes.BooleanType,
        DataTypes.createDecimalType(30, 4),
        DataTypes.createArrayType(DataTypes.IntegerType),
    };

    static Stream<Map<String, String>> sides() {
        return Stream.of(
                Map.of(),
                Map.of("spark.shuffle.rdma.direct.read", "false"),
                Map.of("spark.shuffle.rdma.direct.write", "false", "spark.shuffle.compress", "false"),
                Map.of("spark.shuffle.rdma.direct.write.max.partitions", "2"),
                Map.of(
                        "spark.shuffle.rdma.direct.write.max.partitions",
                        "1",
                        "spark.memory.offHeap.enabled",
                        "true",
                        "spark.memory.offHeap.size",
                        "100m"),
                Map.of("spark.shuffle.rdma.compress", "always"),
                Map.of("spark.shuffle.rdma.memory.max", "2m", "spark.shuffle.rdma.slab.size", "1m"),
                Map.of("spark.io.encryption.enabled", "true"));
    }

    @ParameterizedTest
    @MethodSource("sides")
    void rowsOfAnySchemaAndSizeSurviveEveryCombinationOfWritersAndReaders(Map<String, String> side) throws IOException {
        Random random = new Random(SEED);
        try (SparkSession spark = session(side)) {
            for (int partitions : new int[] {1, 2, 7, 201, 600}) {
                Dataset<Row> rows = randomRows(spark, random, 1500);
                Dataset<Row> shuffled = rows.repartition(partitions, hashOfAll(rows));
                assertEquals(
                        multiset(rows.collectAsList()), multiset(shuffled.collectAsList()), side + " " + partitions);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("sides")
    void rowsWithoutColumnsAndRowsOfManyMegabytesSurvive(Map<String, String> side) throws IOException {
        try (SparkSession spark = session(side)) {
            assertEquals(
                    1000,
                    spark.range(0, 1000, 1, 3)
                            .select(new org.apache.spark.sql.Column[0])
                            .repartition(5)
                            .count());
            UDF1<Long, byte[]> huge = id -> {
                byte[] bytes = new byte[(int) (id * 17_000_001L % 20_000_000)];
                new Random(id).nextBytes(bytes);
                return bytes;
            };
            Dataset<Row> rows = spark.range(0, 6, 1, 2)
                    .select(
                            col("id"),
                            udf(huge, DataTypes.BinaryType).apply(col("id")).as("bytes"));
            assertEquals(
                    multiset(rows.collectAsList()),
                    multiset(rows.repartition(3, col("id")).collectAsList()));
        }
    }

    @ParameterizedTest
    @MethodSource("sides")
    void tasksThatFailHalfwayLeaveNoRowsBehind(Map<String, String> side) throws IOException {
        try (SparkSession spark = session(side)) {
            UDF1<Long, Long> failsAtFirst = id -> {
                if (id % 5000 == 4999 && TaskContext.get().attemptNumber() == 0) {
                    throw new IllegalStateException("this attempt is meant to fail");
                }
                return id;
            };
            Dataset<Row> rows = spark.range(0, 20_000, 1, 4)
                    .select(udf(failsAtFirst, DataTypes.LongType)
                            .asNondeterministic()
                            .apply(col("id"))
                            .as("id"));
            Row totals = rows.repartition(11, col("id"))
                    .agg(org.apache.spark.sql.functions.sum("id"), org.apache.spark.sql.functions.count("id"))
                    .first();
            assertEquals(20_000L * 19_999 / 2, totals.getLong(0));
            assertEquals(20_000L, totals.getLong(1));
        }
    }

    @Test
    void countsAndChecksumsAreThoseOfTheBuiltInShuffle() throws IOException {
        Map<String, String> plain = Map.of("spark.shuffle.compress", "false");
        Map<String, Long> builtin = figures(Map.of("spark.shuffle.compress", "false", "spark.shuffle.manager", "sort"));
        Map<String, Long> direct = figures(plain);
        assertEquals(builtin, direct);
        Map<String, String> gathering =
                Map.of("spark.shuffle.compress", "false", "spark.shuffle.rdma.direct.write.max.partitions", "1");
        assertEquals(builtin, figures(gathering));
        assertTrue(direct.get("records written") > 0 && direct.get("bytes read") > 0, direct.toString());
    }

    private static Map<String, Long> figures(Map<String, String> conf) throws IOException {
        Map<String, Long> figures = new LinkedHashMap<>();
        AtomicLong recordsWritten = new AtomicLong();
        AtomicLong bytesWritten = new AtomicLong();
        AtomicLong recordsRead = new AtomicLong();
        AtomicLong bytesRead = new AtomicLong();
        AtomicLong localBlocks = new AtomicLong();
        try (SparkSession spark = session(conf)) {
            spark.sparkContext().addSparkListener(new SparkListener() {
                @Override
                public void onStageCompleted(SparkListenerStageCompleted completed) {
                    var metrics = completed.stageInfo().taskMetrics();
                    recordsWritten.addAndGet(metrics.shuffleWriteMetrics().recordsWritten());
                    bytesWritten.addAndGet(metrics.shuffleWriteMetrics().bytesWritten());
                    recordsRead.addAndGet(metrics.shuffleReadMetrics().recordsRead());
                    bytesRead.addAndGet(metrics.shuffleReadMetrics().totalBytesRead());
                    localBlocks.addAndGet(metrics.shuffleReadMetrics().localBlocksFetched());
                }
            });
            Dataset<Row> rows = spark.range(0, 30_000, 1, 3)
                    .select(col("id"), col("id").cast("string").as("text"))
                    .repartition(13, col("text"));
            rows.collectAsList();
            spark.sparkContext().listenerBus().waitUntilEmpty();
            figures.put("data size", dataSize(rows.queryExecution().executedPlan()));
        } catch (java.util.concurrent.TimeoutException e) {
            throw new AssertionError(e);
        }
        figures.put("records written", recordsWritten.get());
        figures.put("bytes written", bytesWritten.get());
        figures.put("records read", recordsRead.get());
        figures.put("bytes read", bytesRead.get());
        figures.put("local blocks", localBlocks.get());
        return figures;
    }

    /** The sum of the metric that adaptive execution plans by, over the exchanges of a plan. */
    private static long dataSize(SparkPlan plan) {
        long sum = plan.metrics().contains("dataSize")
                ? plan.metrics().apply("dataSize").value()
                : 0;
        for (SparkPlan child : scala.jdk.javaapi.CollectionConverters.asJava(plan.children())) {
            sum += dataSize(child);
        }
        return sum;
    }

    private static SparkSession session(Map<String, String> conf) {
        SparkSession.Builder builder = SparkSession.builder()
                .master("local[2, 3]")
                .appName("direct paths")
                .config("spark.ui.enabled", "false")
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.sql.adaptive.enabled", "false")
                .config("spark.shuffle.manager", RdmaShuffleManager.class.getName())
                .config("spark.shuffle.rdma.slab.size", "4m");
        conf.forEach(builder::config);
        return builder.getOrCreate();
    }

    private static org.apache.spark.sql.Column hashOfAll(Dataset<Row> rows) {
        return hash(Stream.of(rows.columns())
                .map(org.apache.spark.sql.functions::col)
                .toArray(org.apache.spark.sql.Column[]::new));
    }

    private static Dataset<Row> randomRows(SparkSession spark, Random random, int count) {
        int columns = 1 + random.nextInt(12);
        List<StructField> fields = new ArrayList<>();
        for (int i = 0; i < columns; i++) {
            fields.add(DataTypes.createStructField("c" + i, TYPES[random.nextInt(TYPES.length)], true));
        }
        StructType schema = DataTypes.createStructType(fields);
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Object[] values = new Object[columns];
            for (int c = 0; c < columns; c++) {
                values[c] = random.nextInt(10) == 0
                        ? null
                        : randomValue(fields.get(c).dataType(), random);
            }
            rows.add(RowFactory.create(values));
        }
        return spark.createDataFrame(rows, schema).repartition(3).cache();
    }

    private static Object randomValue(DataType type, Random random) {
        int size = random.nextInt(100) == 0 ? random.nextInt(100_000) : random.nextInt(40);
        byte[] bytes = new byte[size];
        random.nextBytes(bytes);
        if (type.equals(DataTypes.LongType)) {
            return random.nextLong();
        } else if (type.equals(DataTypes.IntegerType)) {
            return random.nextInt();
        } else if (type.equals(DataTypes.DoubleType)) {
            return random.nextDouble();
        } else if (type.equals(DataTypes.StringType)) {
            return new String(bytes, StandardCharsets.ISO_8859_1);
        } else if (type.equals(DataTypes.BinaryType)) {
            return bytes;
        } else if (type.equals(DataTypes.BooleanType)) {
            return random.nextBoolean();
        } else if (type.typeName().startsWith("array")) {
            return random.ints(size % 50).boxed().toList();
        }
        return BigDecimal.valueOf(random.nextLong(), 4);
    }

    /** Rows with their counts; binary columns by content. */
    private static Map<List<Object>, Integer> multiset(List<Row> rows) {
        Map<List<Object>, Integer> counts = new HashMap<>();
        for (Row row : rows) {
            List<Object> key = new ArrayList<>();
            for (int i = 0; i < row.length(); i++) {
                Object value = row.get(i);
                key.add(value instanceof byte[] bytes ? java.nio.ByteBuffer.wrap(bytes) : value);
            }
            counts.merge(key, 1, Integer::sum);
        }
        return counts;
    }
}
