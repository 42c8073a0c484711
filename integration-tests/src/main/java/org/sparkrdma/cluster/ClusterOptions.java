/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.cluster;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * How to start a {@link StandaloneCluster}. Immutable; the {@code with} methods copy.
 *
 * @param sparkHome a Spark folder, as assembled by {@code bin/spark-dist}
 * @param directory where the cluster keeps its files: created, and deleted on close unless {@link #keepFiles}
 * @param workers how many Workers
 * @param coresPerWorker the cores that each Worker offers
 * @param memoryPerWorker the memory that each Worker offers, in Spark's notation ({@code 2g})
 * @param privateShm when present, all processes run in one mount namespace of their own with a
 *     {@code /dev/shm} of this size, in the notation of mount ({@code 64m}); needs root
 * @param environment added to every process
 * @param keepFiles leave the directory for inspection on close
 */
public record ClusterOptions(
        Path sparkHome,
        Path directory,
        int workers,
        int coresPerWorker,
        String memoryPerWorker,
        Optional<String> privateShm,
        Map<String, String> environment,
        boolean keepFiles) {

    public ClusterOptions {
        if (workers < 1 || coresPerWorker < 1) {
            throw new IllegalArgumentException(
                    "a cluster needs a Worker and a core: workers=" + workers + ", cores per worker=" + coresPerWorker);
        }
        sparkHome = sparkHome.toAbsolutePath().normalize();
        directory = directory.toAbsolutePath().normalize();
        environment = Map.copyOf(environment);
    }

    /** Two Workers of one core and 2 GiB each. */
    public static ClusterOptions of(Path sparkHome, Path directory) {
        return new ClusterOptions(sparkHome, directory, 2, 1, "2g", Optional.empty(), Map.of(), false);
    }

    public ClusterOptions withWorkers(int count, int cores, String memory) {
        return new ClusterOptions(sparkHome, directory, count, cores, memory, privateShm, environment, keepFiles);
    }

    public ClusterOptions withPrivateShm(String size) {
        return new ClusterOptions(
                sparkHome,
                directory,
                workers,
                coresPerWorker,
                memoryPerWorker,
                Optional.of(size),
                environment,
                keepFiles);
    }

    public ClusterOptions withEnvironment(String name, String value) {
        Map<String, String> added = new TreeMap<>(environment);
        added.put(name, value);
        return new ClusterOptions(
                sparkHome, directory, workers, coresPerWorker, memoryPerWorker, privateShm, added, keepFiles);
    }

    public ClusterOptions withKeepFiles(boolean keep) {
        return new ClusterOptions(
                sparkHome, directory, workers, coresPerWorker, memoryPerWorker, privateShm, environment, keep);
    }
}
