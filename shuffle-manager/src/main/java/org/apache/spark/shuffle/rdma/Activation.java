/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma;

import org.apache.spark.SparkConf;

/**
 * Whether this application's shuffles go through registered memory, or why they stay Spark's plain sort shuffle. Decided
 * from the settings alone, so that driver and executors agree.
 *
 * @param isActive whether the plugin does its work
 * @param cause why not; empty when active
 */
record Activation(boolean isActive, String cause) {
    static final String IO_PLUGIN = "spark.shuffle.sort.io.plugin.class";
    private static final String DEFAULT_IO_PLUGIN = "org.apache.spark.shuffle.sort.io.LocalDiskShuffleDataIO";
    private static final String SERVICE = "spark.shuffle.service.enabled";

    static Activation of(SparkConf conf) {
        if (conf.getBoolean(SERVICE, false)) {
            return new Activation(
                    false,
                    SERVICE + "=true: reducers ask the external shuffle service for files, which memory of executors"
                            + " is not; set it to false to shuffle through registered memory");
        }
        String plugin = conf.get(IO_PLUGIN, DEFAULT_IO_PLUGIN);
        if (!plugin.equals(DEFAULT_IO_PLUGIN) && !plugin.equals(RdmaShuffleDataIO.class.getName())) {
            return new Activation(
                    false,
                    IO_PLUGIN + "=" + plugin + " stores map outputs elsewhere; remove it to shuffle through"
                            + " registered memory");
        }
        return new Activation(true, "");
    }
}
