/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.it;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.Optional;
import org.sparkrdma.cluster.Application;
import org.sparkrdma.cluster.ClusterOptions;
import org.sparkrdma.cluster.StandaloneCluster;

/** What integration tests start from: clusters, and applications with the plugin or with the built-in shuffle. */
final class ItClusters {
    private ItClusters() {}

    /** Two Workers of one core; skips the test, saying why, where no Spark was assembled. */
    static ClusterOptions options(Path directory) {
        Path spark = Path.of(System.getProperty("spark.dist"));
        Optional<String> cause = StandaloneCluster.unavailabilityCause(spark);
        assumeTrue(cause.isEmpty(), () -> cause.orElse(""));
        return ClusterOptions.of(spark, directory);
    }

    /** Skips the test, saying why, where no private {@code /dev/shm} can be mounted. */
    static void assumePrivateShm() {
        Optional<String> cause = StandaloneCluster.privateShmUnavailabilityCause();
        assumeTrue(cause.isEmpty(), () -> cause.orElse(""));
    }

    /** A main class of the workloads jar with the built-in shuffle. */
    static Application builtin(Class<?> main) {
        return Application.of(main.getName(), Path.of(System.getProperty("workloads.jar")));
    }

    /** A main class of the workloads jar with the plugin, deployed as users are told to. */
    static Application plugin(Class<?> main) {
        String jar = System.getProperty("plugin.jar");
        return builtin(main)
                .withConf("spark.driver.extraClassPath", jar)
                .withConf("spark.executor.extraClassPath", jar)
                .withConf("spark.shuffle.manager", "org.apache.spark.shuffle.rdma.RdmaShuffleManager");
    }
}
