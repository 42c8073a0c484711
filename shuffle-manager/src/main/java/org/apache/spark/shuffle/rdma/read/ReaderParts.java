/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.read;

import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;

/**
 * What Spark's own reader needs of us in one reduce task.
 *
 * @param client fetches the blocks of other executors
 * @param metrics counts them as users expect
 */
public record ReaderParts(BlockStoreClient client, ShuffleReadMetricsReporter metrics) {
    /** Parts for one task that reports to {@code metrics}. */
    public static ReaderParts of(ReadPaths paths, ShuffleReadMetricsReporter metrics) {
        PathLedger ledger = new PathLedger();
        return new ReaderParts(new RdmaBlockClient(paths, ledger), new HostLocalMetrics(metrics, ledger));
    }
}
