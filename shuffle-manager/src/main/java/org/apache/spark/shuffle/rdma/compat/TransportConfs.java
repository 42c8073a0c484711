/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.compat;

import org.apache.spark.SparkConf;
import org.apache.spark.network.netty.SparkTransportConf;
import org.apache.spark.network.util.TransportConf;
import scala.Option;

/** Spark's network settings, whose factory takes other arguments in other lines. */
public final class TransportConfs {
    private TransportConfs() {}

    /** The settings of Spark's own block transfer. */
    public static TransportConf shuffle(SparkConf conf) {
        return SparkTransportConf.fromSparkConf(conf, "shuffle", 0, Option.empty(), Option.empty());
    }
}
