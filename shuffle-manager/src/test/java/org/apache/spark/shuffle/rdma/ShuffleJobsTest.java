/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The same jobs on Spark's own shuffle and on this one. */
class ShuffleJobsTest {
    private static final Map<String, List<String>> ANSWERS = new LinkedHashMap<>();

    private static final Map<String, Map<String, Long>> METRICS = new LinkedHashMap<>();

    @BeforeAll
    static void runOnSparksOwnShuffle() {
        try (LocalSpark spark = LocalSpark.openPlain(Map.of("spark.shuffle.compress", "false"))) {
            METRICS.putAll(run(spark, ANSWERS));
        }
    }

    static Stream<Arguments> settings() {
        String directWrite = "spark.shuffle.rdma.direct.write";
        String directRead = "spark.shuffle.rdma.direct.read";
        return Stream.of(
                Arguments.of("as it comes", true, Map.of()),
                Arguments.of(
                        "Spark's own writers and readers, spilling all the time",
                        false,
                        Map.of(
                                directWrite,
                                "false",
                                directRead,
                                "false",
                                "spark.shuffle.spill.numElementsForceSpillThreshold",
                                "500")),
                Arguments.of(
                        "raw blocks in Spark's own reader, not adaptive",
                        true,
                        Map.of(directRead, "false", "spark.sql.adaptive.enabled", "false")),
                Arguments.of(
                        "the direct reader on compressed blocks",
                        true,
                        Map.of(directWrite, "false", "spark.io.compression.codec", "zstd")),
                Arguments.of("encrypted", false, Map.of("spark.io.encryption.enabled", "true")),
                Arguments.of(
                        "next to no memory",
                        true,
                        Map.of("spark.shuffle.rdma.memory.max", "1m", "spark.shuffle.rdma.slab.size", "1m")));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("settings")
    void everyJobAnswersAsOnSparksOwnShuffle(String name, boolean isForSql, Map<String, String> settings) {
        try (LocalSpark spark = LocalSpark.open(settings)) {
            Jobs.all().forEach((job, run) -> {
                if (isForSql || !job.startsWith("sql")) {
                    assertEquals(ANSWERS.get(job), run.apply(spark), job + ", " + name);
                }
            });

            assertTrue(spark.manager().runtime().counters().read().local() > 0);
            boolean isTiny = settings.containsKey("spark.shuffle.rdma.memory.max");
            assertEquals(isTiny, spark.manager().runtime().pool().usage().overflowPeak() > 0);
            spark.unregisterAll();
            assertEquals(0, spark.inUse());
        }
    }

    @ParameterizedTest(name = "direct: {0}")
    @ValueSource(booleans = {true, false})
    void tasksReportTheSameRecordsAndBytesAsOnSparksOwnShuffle(boolean isDirect) {
        Map<String, String> settings = Map.of(
                "spark.shuffle.compress",
                "false",
                "spark.shuffle.rdma.direct.write",
                String.valueOf(isDirect),
                "spark.shuffle.rdma.direct.read",
                String.valueOf(isDirect));
        Map<String, List<String>> answers = new LinkedHashMap<>();
        try (LocalSpark spark = LocalSpark.open(settings)) {
            run(spark, answers).forEach((job, metrics) -> assertEquals(METRICS.get(job), metrics, job));
        }
        assertEquals(ANSWERS, answers);
    }

    /** Runs all jobs; answers the sums of their tasks' metrics. */
    private static Map<String, Map<String, Long>> run(LocalSpark spark, Map<String, List<String>> answers) {
        Map<String, Long> sums = new LinkedHashMap<>();
        spark.session().sparkContext().addSparkListener(new SparkListener() {
            @Override
            public void onTaskEnd(SparkListenerTaskEnd task) {
                var read = task.taskMetrics().shuffleReadMetrics();
                var written = task.taskMetrics().shuffleWriteMetrics();
                sums.merge("records written", written.recordsWritten(), Long::sum);
                sums.merge("bytes written", written.bytesWritten(), Long::sum);
                sums.merge("records read", read.recordsRead(), Long::sum);
                sums.merge("local bytes read", read.localBytesRead(), Long::sum);
                sums.merge("local blocks", read.localBlocksFetched(), Long::sum);
                sums.merge("remote bytes read", read.remoteBytesRead(), Long::sum);
                sums.merge("remote blocks", read.remoteBlocksFetched(), Long::sum);
            }
        });
        Map<String, Map<String, Long>> byJob = new LinkedHashMap<>();
        Jobs.all().forEach((job, run) -> {
            sums.clear();
            answers.put(job, run.apply(spark));
            try {
                spark.session().sparkContext().listenerBus().waitUntilEmpty();
            } catch (java.util.concurrent.TimeoutException e) {
                throw new IllegalStateException(e);
            }
            // What is read in part Spark counts only if it is read to the end.
            if (!job.equals("sql limit") && !job.equals("sql read in part")) {
                byJob.put(job, new LinkedHashMap<>(sums));
            }
        });
        return byJob;
    }
}
