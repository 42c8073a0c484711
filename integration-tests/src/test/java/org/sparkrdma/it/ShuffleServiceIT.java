/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.cluster.ClusterOptions;
import org.sparkrdma.cluster.StandaloneCluster;
import org.sparkrdma.cluster.Submission;
import org.sparkrdma.workloads.shuffle.ShuffleJob.Kind;

/** With Spark's external shuffle service the plugin steps aside, and says so. */
class ShuffleServiceIT {
    @TempDir
    Path temporary;

    @Test
    void shufflesAreSparksOwn() throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        ClusterOptions options = ItClusters.options(temporary.resolve("cluster"))
                .withWorkers(1, 2, "2g")
                .withEnvironment(
                        "SPARK_WORKER_OPTS",
                        "-Dspark.shuffle.service.enabled=true -Dspark.shuffle.service.port=" + port);
        try (StandaloneCluster cluster = StandaloneCluster.start(options)) {
            Submission ended = cluster.run(ShuffleJobs.plugin(Kind.SQL)
                    .withConf(Map.of(
                            "spark.shuffle.service.enabled",
                            "true",
                            "spark.shuffle.service.port",
                            Integer.toString(port))));
            JobResult result = JobResult.of(ended).assertAnswer(ShuffleJobs.ROWS);
            assertEquals(0, result.get("local") + result.get("shm") + result.get("netty"), result::line);
            assertTrue(
                    ended.errors()
                            .contains("shuffles are Spark's plain sort shuffle: spark.shuffle.service.enabled=true"),
                    ended.errors());
        }
    }
}
