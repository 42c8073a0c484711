/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.read;

import java.util.function.Predicate;
import org.apache.spark.SparkConf;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.serializer.SerializerManager;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.rdma.buffers.BlockRange;

/**
 * What Spark's own reader needs of us in one reduce task.
 *
 * @param client fetches the blocks of other executors
 * @param metrics counts them as users expect
 * @param streams undoes compression and encryption where there is any
 */
public record ReaderParts(BlockStoreClient client, ShuffleReadMetricsReporter metrics, SerializerManager streams) {
    /**
     * Parts for one task.
     *
     * @param metrics of the task
     * @param spark Spark's streams
     * @param serializer Spark's default one
     * @param isOwnRaw tells of a block of this executor whether it is raw
     */
    public static ReaderParts of(
            ReadPaths paths,
            ShuffleReadMetricsReporter metrics,
            SerializerManager spark,
            Serializer serializer,
            SparkConf conf,
            Predicate<BlockRange> isOwnRaw) {
        PathLedger ledger = new PathLedger();
        RawBlocks raw = new RawBlocks(isOwnRaw);
        return new ReaderParts(
                new RdmaBlockClient(paths, ledger, raw),
                new HostLocalMetrics(metrics, ledger),
                new RawAwareStreams(spark, serializer, conf, raw));
    }
}
