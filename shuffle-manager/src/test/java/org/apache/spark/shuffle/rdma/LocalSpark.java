/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma;

import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import org.sparkrdma.transport.memory.PoolUsage;

/** A Spark within this process, whose one executor is the driver. */
final class LocalSpark implements AutoCloseable {
    static final String PLAIN = "sort";

    private final SparkSession session;

    private LocalSpark(SparkSession session) {
        this.session = session;
    }

    /** Spark with this plugin, two task threads and small slabs. */
    static LocalSpark open(Map<String, String> settings) {
        return open("local[2,4]", RdmaShuffleManager.class.getName(), settings);
    }

    /** The same with Spark's own shuffle. */
    static LocalSpark openPlain(Map<String, String> settings) {
        return open("local[2,4]", PLAIN, settings);
    }

    private static LocalSpark open(String master, String manager, Map<String, String> settings) {
        SparkConf conf = new SparkConf(false)
                .setMaster(master)
                .setAppName("test")
                .set("spark.shuffle.manager", manager)
                .set("spark.ui.enabled", "false")
                .set("spark.driver.host", "127.0.0.1")
                .set("spark.driver.bindAddress", "127.0.0.1")
                // What needs more than 200 partitions by default needs more than 20 here.
                .set("spark.shuffle.sort.bypassMergeThreshold", "20")
                .set("spark.sql.shuffle.partitions", "5")
                .set("spark.sql.autoBroadcastJoinThreshold", "-1");
        if (!manager.equals(PLAIN)) {
            conf.set("spark.shuffle.rdma.memory.max", "64m")
                    .set("spark.shuffle.rdma.slab.size", "4m")
                    .set("spark.shuffle.rdma.overflow.slab.size", "4m")
                    .set("spark.shuffle.rdma.slab.ahead", "0")
                    .set("spark.shuffle.rdma.quarantine", "0ms")
                    .set("spark.shuffle.rdma.leak.detection", "true");
        }
        settings.forEach(conf::set);
        return new LocalSpark(SparkSession.builder().config(conf).getOrCreate());
    }

    SparkSession session() {
        return session;
    }

    JavaSparkContext context() {
        return new JavaSparkContext(session.sparkContext());
    }

    RdmaShuffleManager manager() {
        return RdmaShuffleManager.current();
    }

    /** Bytes of extents that are out and do not rest. */
    long inUse() {
        PoolUsage usage = manager().runtime().pool().usage();
        return usage.used() - usage.quarantined();
    }

    /** Ends every shuffle, as Spark's cleaner does when nobody refers to it any more. */
    void unregisterAll() {
        for (int shuffle = 0; shuffle < 1000; shuffle++) {
            manager().unregisterShuffle(shuffle);
        }
    }

    @Override
    public void close() {
        session.stop();
        SparkSession.clearActiveSession();
        SparkSession.clearDefaultSession();
    }
}
