/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoSerializable;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkException;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.PairFunction;
import org.apache.spark.shuffle.rdma.catalog.MapOutput;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog.MapOutputId;
import org.apache.spark.shuffle.rdma.catalog.StoredBlock;
import org.apache.spark.shuffle.rdma.compat.DirectMemory;
import org.apache.spark.unsafe.Platform;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import scala.Tuple2;

/** Whatever becomes of tasks: their memory comes back, and what is damaged is computed anew. */
class TaskFailureTest {
    private static final CountDownLatch IS_WRITING = new CountDownLatch(1);

    static Stream<Arguments> writers() {
        Map<String, String> sparks = Map.of("spark.shuffle.rdma.direct.write", "false");
        return Stream.of(
                Arguments.of("direct", Map.of(), 5, true),
                Arguments.of("bypass", sparks, 5, false),
                Arguments.of("serialized", sparks, 30, true),
                Arguments.of("sort", sparks, 30, false),
                Arguments.of(
                        "sort, spilling",
                        Map.of(
                                "spark.shuffle.rdma.direct.write",
                                "false",
                                "spark.shuffle.spill.numElementsForceSpillThreshold",
                                "500"),
                        30,
                        false));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("writers")
    void aTaskThatFailsWhileItWritesGivesItsMemoryBack(
            String name, Map<String, String> settings, int partitions, boolean isKryo) {
        try (LocalSpark spark = LocalSpark.open(settings)) {
            for (Failure failure : EnumSet.range(Failure.RECORDS, Failure.SERIALIZER_ERROR)) {
                JavaPairRDD<Integer, Object> failing = values(spark.context(), failure);
                JavaPairRDD<Integer, Object> shuffled = isKryo
                        ? Jobs.byKryo(failing, partitions)
                        : failing.partitionBy(new HashPartitioner(partitions));

                assertThrows(SparkException.class, shuffled::count, failure.name());

                spark.unregisterAll();
                assertEquals(0, spark.inUse(), name + ", " + failure);
            }
        }
    }

    @Test
    void aTaskThatIsKilledWhileItWritesGivesItsMemoryBack() throws Exception {
        try (LocalSpark spark = LocalSpark.open(Map.of())) {
            JavaPairRDD<Integer, Object> endless = values(spark.context(), Failure.NEVER_ENDS);
            var job = Jobs.byKryo(endless, 5).countAsync();
            IS_WRITING.await();
            assertTrue(spark.inUse() > 0);

            spark.session().sparkContext().cancelAllJobs();
            assertThrows(Exception.class, job::get);

            assertTimeout(Duration.ofSeconds(20), () -> {
                while (spark.inUse() > 0) {
                    Thread.sleep(20);
                }
            });
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("writers")
    void aDamagedMapOutputIsComputedAnew(String name, Map<String, String> settings, int partitions, boolean isKryo)
            throws IOException {
        try (LocalSpark spark = LocalSpark.open(settings)) {
            JavaPairRDD<Integer, Object> values = values(spark.context(), Failure.NONE);
            JavaPairRDD<Integer, Object> shuffled =
                    isKryo ? Jobs.byKryo(values, partitions) : values.partitionBy(new HashPartitioner(partitions));
            List<String> expected =
                    shuffled.collect().stream().map(Tuple2::toString).sorted().toList();
            damage(spark.manager().runtime());

            assertEquals(
                    expected,
                    shuffled.collect().stream().map(Tuple2::toString).sorted().toList());
        }
    }

    @Test
    void damagedRowsOfSqlAreComputedAnew() {
        for (String direct : List.of("true", "false")) {
            try (LocalSpark spark = LocalSpark.open(Map.of("spark.shuffle.rdma.direct.read", direct))) {
                var rows = Jobs.rows(spark.session())
                        .repartition(3, org.apache.spark.sql.functions.col("k"))
                        .toJavaRDD();
                List<String> expected =
                        rows.collect().stream().map(Object::toString).sorted().toList();
                damage(spark.manager().runtime());

                assertEquals(
                        expected,
                        rows.collect().stream().map(Object::toString).sorted().toList());
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Flips a bit in the middle of one map output. */
    static void damage(ExecutorRuntime runtime) throws IOException {
        MapOutputId id = runtime.catalog().stored().get(0);
        MapOutput output = runtime.catalog().acquire(id).orElseThrow();
        StoredBlock block = runtime.catalog().read(output, 0, output.entry().partitions());
        var slice = block.slices().get(0);
        long at = DirectMemory.address(slice) + slice.position() + slice.remaining() / 2;
        Platform.putByte(null, at, (byte) (Platform.getByte(null, at) ^ 4));
        output.release();
    }

    private enum Failure {
        NONE,
        /** The records end in an exception. */
        RECORDS,
        /** The records end in an error. */
        RECORDS_ERROR,
        /** A record cannot be serialized, which Spark's sort writer finds out when it writes partitions. */
        SERIALIZER,
        /** The same with an error. */
        SERIALIZER_ERROR,
        NEVER_ENDS
    }

    private static JavaPairRDD<Integer, Object> values(JavaSparkContext context, Failure failure) {
        if (failure == Failure.NEVER_ENDS) {
            return context.parallelize(List.of(1), 1)
                    .flatMapToPair(one -> new Endless())
                    .mapToPair((PairFunction<Tuple2<Integer, Object>, Integer, Object>) pair -> pair);
        }
        return context.parallelize(IntStream.range(0, 4_000).boxed().toList(), 2)
                .mapToPair(i -> new Tuple2<>(i, valueOf(i, failure)));
    }

    private static Object valueOf(int i, Failure failure) {
        boolean isLate = i == 3_900;
        if (isLate && failure == Failure.RECORDS) {
            throw new IllegalStateException("on purpose");
        }
        if (isLate && failure == Failure.RECORDS_ERROR) {
            throw new AssertionError("on purpose");
        }
        return isLate && (failure == Failure.SERIALIZER || failure == Failure.SERIALIZER_ERROR)
                ? new Unwritable(failure == Failure.SERIALIZER_ERROR)
                : "x".repeat(100) + i;
    }

    private static final class Unwritable implements Serializable, KryoSerializable {
        private final boolean byError;

        Unwritable(boolean byError) {
            this.byError = byError;
        }

        private void writeObject(ObjectOutputStream out) throws IOException {
            fail();
        }

        @Override
        public void write(Kryo kryo, Output output) {
            fail();
        }

        @Override
        public void read(Kryo kryo, Input input) {}

        private void fail() {
            if (byError) {
                throw new AssertionError("on purpose");
            }
            throw new IllegalStateException("on purpose");
        }
    }

    private static final class Endless implements Iterator<Tuple2<Integer, Object>> {
        private int next;

        @Override
        public boolean hasNext() {
            if (next > 10_000) {
                IS_WRITING.countDown();
                TaskContext.get().killTaskIfInterrupted();
            }
            return true;
        }

        @Override
        public Tuple2<Integer, Object> next() {
            return new Tuple2<>(next++, "x");
        }
    }
}
