/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.cluster.Application;
import org.sparkrdma.cluster.ClusterJvm;
import org.sparkrdma.cluster.ClusterOptions;
import org.sparkrdma.cluster.StandaloneCluster;
import org.sparkrdma.cluster.Submission;
import org.sparkrdma.workloads.SmallSql;

/** The plugin on a real cluster answers as the built-in shuffle does, and a cluster leaves nothing behind. */
class StandaloneClusterIT {
    @TempDir
    Path temporary;

    @Test
    void answersAsTheBuiltInShuffleDoes() throws Exception {
        try (StandaloneCluster cluster = StandaloneCluster.start(ItClusters.options(temporary.resolve("cluster")))) {
            assertEquals(2, cluster.aliveWorkers());
            String expected = cluster.run(ItClusters.builtin(SmallSql.class)).output();
            Submission rdma = cluster.run(ItClusters.plugin(SmallSql.class));
            assertTrue(expected.contains("rows="), expected);
            assertEquals(expected, rdma.output());
        }
    }

    @Test
    void closingStopsEveryProcessAndDeletesTheFolder() throws Exception {
        ClusterOptions options = ItClusters.options(temporary.resolve("cluster"));
        List<ClusterJvm> before;
        StandaloneCluster cluster = StandaloneCluster.start(options);
        try (cluster) {
            Application application = ItClusters.plugin(SmallSql.class).withArguments(List.of("--sleep", "60"));
            Submission running = cluster.submit(application);
            assertTrue(
                    running.awaitWhileRunning(() -> cluster.executors().size() == 2, Duration.ofSeconds(60)),
                    running::errors);
            before = cluster.jvms();
            assertTrue(before.stream().anyMatch(jvm -> jvm.kind() == ClusterJvm.Kind.DRIVER), before::toString);
        }
        assertEquals(List.of(), cluster.jvms());
        assertTrue(before.stream().noneMatch(ClusterJvm::isAlive), before::toString);
        assertFalse(Files.exists(options.directory()));
    }

    @Test
    void privateShmIsSeenByTheClusterAlone() throws Exception {
        ItClusters.assumePrivateShm();
        ClusterOptions options =
                ItClusters.options(temporary.resolve("cluster")).withPrivateShm("64m");
        try (StandaloneCluster cluster = StandaloneCluster.start(options)) {
            assertEquals(List.of(), cluster.shmFiles());
            assertEquals(64L << 20, Files.getFileStore(cluster.shmDirectory()).getTotalSpace());
            long executorsRoom = Files.getFileStore(Path.of(
                            "/proc",
                            Long.toString(
                                    cluster.jvms(ClusterJvm.Kind.WORKER).get(0).pid()),
                            "root/dev/shm"))
                    .getTotalSpace();
            assertEquals(64L << 20, executorsRoom);
        }
    }
}
