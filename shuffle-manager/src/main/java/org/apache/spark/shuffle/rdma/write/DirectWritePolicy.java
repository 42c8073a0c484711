/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.write;

import org.apache.spark.ShuffleDependency;
import org.apache.spark.shuffle.rdma.config.CompressMode;
import org.sparkrdma.transport.memory.PoolUsage;
import org.sparkrdma.transport.memory.SlabPool;

/**
 * Which map outputs are written directly and raw; the others go through Spark's own writers, compressed and encrypted as
 * Spark is told to, and end in extents too.
 */
public final class DirectWritePolicy {
    private final boolean isOn;
    private final int maxPartitions;
    private final boolean mustCompress;
    private final boolean mayCompress;

    /**
     * @param isOn whether direct writing is allowed
     * @param maxPartitions most reduce partitions
     * @param mode when map outputs are compressed
     * @param sparkCompresses {@code spark.shuffle.compress}
     * @param sparkEncrypts {@code spark.io.encryption.enabled}
     */
    public DirectWritePolicy(
            boolean isOn, int maxPartitions, CompressMode mode, boolean sparkCompresses, boolean sparkEncrypts) {
        this.isOn = isOn && !sparkEncrypts;
        this.maxPartitions = maxPartitions;
        this.mustCompress = sparkCompresses && mode == CompressMode.ALWAYS;
        this.mayCompress = sparkCompresses && mode == CompressMode.AUTO;
    }

    /** Whether a map output of this dependency is to be written directly now. */
    public boolean appliesTo(ShuffleDependency<?, ?, ?> dependency, SlabPool pool) {
        return isOn
                && !mustCompress
                && !dependency.mapSideCombine()
                && dependency.serializer().supportsRelocationOfSerializedObjects()
                && dependency.partitioner().numPartitions() <= maxPartitions
                && !(mayCompress && isPressed(pool));
    }

    /** Raw bytes take more room: past half of the budget map outputs are compressed. */
    private static boolean isPressed(SlabPool pool) {
        PoolUsage usage = pool.usage();
        return usage.used() > usage.memoryLimit() / 2;
    }
}
