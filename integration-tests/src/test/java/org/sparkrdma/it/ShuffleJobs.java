/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.it;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.sparkrdma.cluster.Application;
import org.sparkrdma.workloads.shuffle.ShuffleJob;
import org.sparkrdma.workloads.shuffle.ShuffleJob.Kind;

/** ShuffleJobs to submit: small ones, in executors of one core and little memory. */
final class ShuffleJobs {
    static final long ROWS = 100_000;

    /** One core and little memory each, and a compiler that starts fast. */
    private static final Map<String, String> SMALL = Map.of(
            "spark.executor.memory", "512m",
            "spark.executor.cores", "1",
            "spark.driver.memory", "512m",
            "spark.ui.enabled", "false",
            "spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1",
            "spark.executor.extraJavaOptions", "-XX:TieredStopAtLevel=1");

    private static final Map<String, String> PLUGIN = Map.of(
            "spark.shuffle.rdma.report.interval", "100ms",
            "spark.shuffle.rdma.slab.size", "8m",
            "spark.shuffle.rdma.leak.detection", "true");

    private ShuffleJobs() {}

    /** The plugin shuffles {@link #ROWS} rows of 100 bytes; more arguments come last. */
    static Application plugin(Kind kind, String... more) {
        return ItClusters.plugin(ShuffleJob.class)
                .withConf(SMALL)
                .withConf(PLUGIN)
                .withArguments(arguments(kind, more));
    }

    /** The same by the built-in shuffle. */
    static Application builtin(Kind kind, String... more) {
        return ItClusters.builtin(ShuffleJob.class).withConf(SMALL).withArguments(arguments(kind, more));
    }

    private static List<String> arguments(Kind kind, String... more) {
        List<String> all = new ArrayList<>(List.of("--kind", kind.name()));
        all.addAll(List.of(more));
        return all;
    }
}
