/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.tools;

import java.nio.file.Path;
import org.sparkrdma.cluster.ClusterOptions;

/**
 * Where things are: the scripts in bin/ and the build pass it as system properties.
 *
 * @param root the repository
 * @param sparkHome the Spark folder that bin/spark-dist assembled
 * @param pluginJar the jar of the shuffle manager
 * @param workloadsJar the jar of this module
 * @param clusterDirectory the folder for a cluster
 */
public record Workspace(Path root, Path sparkHome, Path pluginJar, Path workloadsJar, Path clusterDirectory) {
    /** Reads {@code project.root}, {@code spark.dist}, {@code plugin.jar}, {@code workloads.jar}, {@code cluster.dir}. */
    public static Workspace fromSystemProperties() {
        Path root = property("project.root");
        String cluster = System.getProperty("cluster.dir");
        return new Workspace(
                root,
                property("spark.dist"),
                property("plugin.jar"),
                property("workloads.jar"),
                cluster != null
                        ? Path.of(cluster)
                        : root.resolve("target/clusters")
                                .resolve(Long.toString(ProcessHandle.current().pid())));
    }

    /** Where TPC-DS data of a scale is kept. */
    Path tpcdsData(String scale) {
        return root.resolve("target/tpcds").resolve("sf" + scale);
    }

    public ClusterOptions clusterOptions() {
        return ClusterOptions.of(sparkHome, clusterDirectory);
    }

    private static Path property(String name) {
        String value = System.getProperty(name);
        if (value == null) {
            throw new IllegalStateException("system property " + name + " is not set");
        }
        return Path.of(value);
    }
}
