/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.tools;

import java.util.LinkedHashMap;
import java.util.Map;

/** The two shuffles that are compared, and the configuration that selects each. */
enum Shuffle {
    BUILTIN("built-in"),
    RDMA("rdma");

    private final String label;

    Shuffle(String label) {
        this.label = label;
    }

    String label() {
        return label;
    }

    /**
     * The difference between the two sides: the manager, and how often executors report bytes by
     * path. Both sides have the plugin's jar on the class path of driver and executors.
     */
    Map<String, String> conf() {
        Map<String, String> conf = new LinkedHashMap<>();
        if (this == RDMA) {
            conf.put("spark.shuffle.manager", "org.apache.spark.shuffle.rdma.RdmaShuffleManager");
            conf.put("spark.shuffle.rdma.report.interval", "200ms");
        }
        return conf;
    }
}
