/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkrdma.cluster.Application;
import org.sparkrdma.cluster.StandaloneCluster;
import org.sparkrdma.workloads.shuffle.ShuffleJob;
import org.sparkrdma.workloads.shuffle.ShuffleJob.Kind;

/** Map outputs whose bytes change in memory after they were written: Spark computes them anew, and the log says why. */
class DamagedMemoryIT {
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

    @ParameterizedTest
    @CsvSource({"SQL, 'shm,netty'", "SQL, netty", "RDD, 'shm,netty'", "RDD, netty"})
    void damagedMapOutputsAreComputedAnew(Kind kind, String paths) throws Exception {
        Application application = ShuffleJobs.plugin(kind).withConf("spark.shuffle.rdma.paths", paths);
        try (HeldJob job = HeldJob.start(cluster, application, ShuffleJob.BETWEEN)) {
            job.awaitAt(ShuffleJob.BETWEEN, 1);
            String before = cluster.executorLogs();
            long victim = cluster.executors().get(0).pid();
            assertTrue(new ProcessMemory(victim).damageSlabs() > 100);
            job.release(ShuffleJob.BETWEEN);
            JobResult result = job.finish().assertAnswer(ShuffleJobs.ROWS);
            assertTrue(result.get("retries") > 0, result::line);
            assertTrue(count(cluster.executorLogs()) > count(before), cluster.executorLogs());
        }
    }

    private static long count(String log) {
        return log.lines().filter(line -> line.contains("checksum")).count();
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void damagedDirectoryIsDoneWithout(Kind kind) throws Exception {
        try (HeldJob job = HeldJob.start(cluster, ShuffleJobs.plugin(kind), ShuffleJob.BETWEEN)) {
            job.awaitAt(ShuffleJob.BETWEEN, 1);
            assertTrue(new ProcessMemory(cluster.executors().get(0).pid()).damageDirectory() > 0);
            job.release(ShuffleJob.BETWEEN);
            JobResult result = job.finish().assertAnswer(ShuffleJobs.ROWS);
            assertEquals(0, result.get("retries"), result::line);
        }
    }
}
