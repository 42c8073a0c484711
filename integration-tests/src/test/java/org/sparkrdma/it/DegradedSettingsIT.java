/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkrdma.cluster.Application;
import org.sparkrdma.cluster.StandaloneCluster;
import org.sparkrdma.cluster.Submission;
import org.sparkrdma.workloads.shuffle.ShuffleJob.Kind;

/** Settings and surroundings that leave the plugin less than it likes: jobs answer right, and the log says what is off. */
class DegradedSettingsIT {
    @TempDir
    static Path temporary;

    private static StandaloneCluster cluster;

    @BeforeAll
    static void startCluster() throws Exception {
        cluster = StandaloneCluster.start(ItClusters.options(temporary.resolve("cluster")));
    }

    @AfterAll
    static void stopCluster() {
        if (cluster != null) {
            cluster.close();
        }
    }

    private static JobResult run(Application application) throws Exception {
        return JobResult.of(cluster.run(application)).assertAnswer(ShuffleJobs.ROWS);
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void withoutSharedMemoryAllRemoteBytesComeByNetty(Kind kind) throws Exception {
        JobResult shared = run(ShuffleJobs.plugin(kind));
        assertTrue(shared.get("shm") > 0, shared::line);
        assertEquals(0, shared.get("netty"), shared::line);
        JobResult result = run(ShuffleJobs.plugin(kind).withConf("spark.shuffle.rdma.paths", "netty"));
        assertEquals(0, result.get("shm"), result::line);
        assertTrue(result.get("netty") > 0, result::line);
        assertEquals(0, result.get("retries"), result::line);
    }

    @Test
    void executorsInProcessNamespacesOfTheirOwnReadByNetty() throws Exception {
        JobResult result = run(WrappedJava.inProcessNamespace(ShuffleJobs.plugin(Kind.SQL), temporary));
        assertEquals(0, result.get("shm"), result::line);
        assertTrue(result.get("netty") > 0, result::line);
        assertEquals(0, result.get("retries"), result::line);
    }

    @Test
    void withoutWritableSharedMemoryMapOutputsLieOnDisk() throws Exception {
        JobResult result = run(ShuffleJobs.plugin(Kind.SQL).withConf("spark.shuffle.rdma.shm.dir", "/nonexistent/dir"));
        assertTrue(result.get("overflow") > 0, result::line);
        assertTrue(result.get("shm") > 0, result::line);
        assertTrue(
                cluster.executorLogs().contains("because /nonexistent/dir is not a directory that can be written"),
                cluster.executorLogs());
    }

    @Test
    void pushIsDeclined() throws Exception {
        Submission ended = cluster.run(ShuffleJobs.plugin(Kind.SQL).withConf("spark.shuffle.push.enabled", "true"));
        JobResult.of(ended).assertAnswer(ShuffleJobs.ROWS);
        assertEquals(1, count(ended.errors(), "spark.shuffle.push.enabled=true is declined"), ended.errors());
    }

    @ParameterizedTest
    @CsvSource({"local[2], SQL", "local[2], RDD", "'local-cluster[2,1,1024]', SQL"})
    void mastersWithoutACluster(String master, Kind kind) throws Exception {
        JobResult result = run(ShuffleJobs.plugin(kind).withOptions("--master", master));
        assertTrue(result.get("local") > 0, result::line);
        assertEquals(master.startsWith("local-cluster"), result.get("shm") > 0, result::line);
    }

    @ParameterizedTest
    @CsvSource({
        "SQL, 'shm,netty', spark.shuffle.compress=false",
        "SQL, netty, spark.shuffle.compress=false",
        "SQL, netty, spark.io.compression.codec=zstd",
        "SQL, netty, spark.network.maxRemoteBlockSizeFetchToMem=1k",
        "RDD, netty, spark.network.maxRemoteBlockSizeFetchToMem=1k",
        "RDD, 'shm,netty', spark.serializer=org.apache.spark.serializer.KryoSerializer",
        "RDD, netty, spark.serializer=org.apache.spark.serializer.KryoSerializer"
    })
    void settingsOfSparkThatChangeTheBytes(Kind kind, String paths, String setting) throws Exception {
        String[] keyAndValue = setting.split("=", 2);
        JobResult result = run(ShuffleJobs.plugin(kind)
                .withConf("spark.shuffle.rdma.paths", paths)
                .withConf(keyAndValue[0], keyAndValue[1]));
        assertEquals(paths.equals("netty"), result.get("netty") > 0, result::line);
        assertEquals(0, result.get("retries"), result::line);
        assertEquals(0, result.get("failedTasks"), result::line);
    }

    @Test
    void pluginJarByJarsOptionAlone() throws Exception {
        Application deployed = ShuffleJobs.builtin(Kind.SQL)
                .withConf(Map.of(
                        "spark.shuffle.manager", "org.apache.spark.shuffle.rdma.RdmaShuffleManager",
                        "spark.shuffle.rdma.report.interval", "100ms"))
                .withOptions("--jars", System.getProperty("plugin.jar"));
        for (Kind kind : Kind.values()) {
            JobResult result = run(deployed.withArguments(List.of("--kind", kind.name())));
            assertTrue(result.get("shm") > 0, result::line);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "spark.shuffle.rdma.memory.max, banana",
        "spark.shuffle.rdma.memory.maxx, 64m",
        "spark.shuffle.rdma.paths, 'netty,shm'"
    })
    void badSettingEndsTheSubmissionWithOneSentence(String key, String value) throws Exception {
        try (Submission submission = cluster.submit(ShuffleJobs.plugin(Kind.SQL).withConf(key, value))) {
            assertNotEquals(0, submission.await());
            List<String> naming = submission
                    .errors()
                    .lines()
                    .filter(line -> line.contains(key) && !line.contains("spark-submit"))
                    .toList();
            assertTrue(
                    naming.stream().anyMatch(line -> line.contains("IllegalArgumentException: ")), submission.errors());
        }
    }

    private static long count(String text, String part) {
        return text.lines().filter(line -> line.contains(part)).count();
    }
}
