/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma;

import org.apache.spark.SparkConf;
import org.apache.spark.shuffle.rdma.metrics.PathBytes;
import org.apache.spark.shuffle.sort.SortShuffleManager;

/** The plugin's entry point, named by {@code spark.shuffle.manager}. */
public class RdmaShuffleManager extends SortShuffleManager {
    /** Called by Spark on the driver and on every executor. */
    public RdmaShuffleManager(SparkConf conf, boolean isDriver) {
        super(conf);
    }

    /** On the driver: bytes read by path in the whole application so far. */
    public PathBytes pathBytes() {
        return PathBytes.NONE;
    }
}
