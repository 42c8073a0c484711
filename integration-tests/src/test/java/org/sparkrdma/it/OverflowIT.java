/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkrdma.cluster.ClusterOptions;
import org.sparkrdma.cluster.StandaloneCluster;
import org.sparkrdma.workloads.shuffle.ShuffleJob.Kind;

/** A shuffle that is many times larger than the shared memory there is completes by way of local disk. */
class OverflowIT {
    private static final long ROWS = 1_000_000;
    private static final String[] ONE_GIGABYTE = {"--rows", "1000000", "--width", "1000", "--maps", "8"};

    @TempDir
    Path temporary;

    @ParameterizedTest
    @EnumSource(Kind.class)
    void shuffleLargerThanSharedMemory(Kind kind) throws Exception {
        ItClusters.assumePrivateShm();
        ClusterOptions options =
                ItClusters.options(temporary.resolve("cluster")).withPrivateShm("64m");
        try (StandaloneCluster cluster = StandaloneCluster.start(options)) {
            JobResult builtin = JobResult.of(
                    cluster.run(ShuffleJobs.builtin(kind, ONE_GIGABYTE).withLimit(Duration.ofMinutes(10))));
            builtin.assertAnswer(ROWS);
            JobResult result = JobResult.of(cluster.run(ShuffleJobs.plugin(kind, ONE_GIGABYTE)
                    .withConf("spark.shuffle.rdma.memory.max", "32m")
                    .withLimit(Duration.ofMinutes(10))));
            result.assertAnswer(ROWS);
            assertEquals(0, result.get("retries"), result::line);
            assertTrue(result.get("overflow") > 900L << 20, result::line);
            assertEquals(List.of(), cluster.shmFiles());
        }
    }

    @Test
    void sharedMemoryThatOthersFillIsNotAFault() throws Exception {
        ItClusters.assumePrivateShm();
        ClusterOptions options =
                ItClusters.options(temporary.resolve("cluster")).withPrivateShm("1m");
        try (StandaloneCluster cluster = StandaloneCluster.start(options)) {
            JobResult result = JobResult.of(cluster.run(ShuffleJobs.plugin(Kind.SQL)));
            result.assertAnswer(ShuffleJobs.ROWS);
            assertTrue(result.get("overflow") > 0, result::line);
        }
    }
}
