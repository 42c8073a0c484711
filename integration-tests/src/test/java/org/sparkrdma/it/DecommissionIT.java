/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.cluster.Application;
import org.sparkrdma.cluster.ClusterJvm;
import org.sparkrdma.cluster.StandaloneCluster;
import org.sparkrdma.workloads.shuffle.ShuffleJob;
import org.sparkrdma.workloads.shuffle.ShuffleJob.Kind;

/** A decommissioned executor hands its map outputs on before it ends, so that nothing is computed anew. */
class DecommissionIT {
    private static final Map<String, String> DECOMMISSION = Map.of(
            "spark.decommission.enabled", "true",
            "spark.storage.decommission.enabled", "true",
            "spark.storage.decommission.replicationReattemptInterval", "1s",
            "spark.storage.decommission.shuffleBlocks.enabled", "true");

    @TempDir
    Path temporary;

    @Test
    void mapOutputsMigrate() throws Exception {
        try (StandaloneCluster cluster = StandaloneCluster.start(ItClusters.options(temporary.resolve("cluster")))) {
            for (String compress : new String[] {"auto", "never", "always"}) {
                migrate(cluster, ShuffleJobs.plugin(Kind.SQL).withConf("spark.shuffle.rdma.compress", compress));
            }
            migrate(cluster, ShuffleJobs.plugin(Kind.RDD));
            migrate(cluster, ShuffleJobs.plugin(Kind.SQL).withConf("spark.shuffle.rdma.paths", "netty"));
            migrate(cluster, ShuffleJobs.plugin(Kind.RDD).withConf("spark.io.encryption.enabled", "true"));
        }
    }

    private static void migrate(StandaloneCluster cluster, Application application) throws Exception {
        try (HeldJob job = HeldJob.start(cluster, application.withConf(DECOMMISSION), ShuffleJob.BETWEEN)) {
            job.awaitAt(ShuffleJob.BETWEEN, 1);
            assertEquals(2, cluster.executors().size());
            ClusterJvm leaving = cluster.executors().get(0);
            assertTrue(new ProcessMemory(leaving.pid()).slabBytes() > 0);
            new ProcessBuilder("kill", "-PWR", Long.toString(leaving.pid()))
                    .start()
                    .waitFor();
            assertTrue(
                    job.submission().awaitWhileRunning(() -> !leaving.isAlive(), Duration.ofMinutes(2)),
                    cluster::toString);
            job.release(ShuffleJob.BETWEEN);
            JobResult result = job.finish().assertAnswer(ShuffleJobs.ROWS);
            assertEquals(
                    0,
                    result.get("retries"),
                    () -> application + result.line() + job.submission().errors());
            assertEquals(0, result.get("failedTasks"), result::line);
        }
    }
}
