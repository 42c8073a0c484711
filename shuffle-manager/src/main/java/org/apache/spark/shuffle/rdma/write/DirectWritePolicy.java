/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.write;

import org.apache.spark.ShuffleDependency;
import org.apache.spark.shuffle.rdma.config.CompressMode;
import org.sparkrdma.transport.memory.PoolUsage;
import org.sparkrdma.transport.memory.SlabPool;

/**
 * Which way map outputs are written: directly and raw, or by Spark's own writers, compressed and encrypted as Spark is
 * told to, which end in extents too.
 */
public final class DirectWritePolicy {
    private final boolean isOn;
    private final int maxPartitions;
    private final boolean mustCompress;
    private final boolean mayCompress;

    /**
     * @param isOn whether direct writing is allowed
     * @param maxPartitions most reduce partitions that each get a chunk of their own while records come
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

    /** How a map output is written. */
    public enum Way {
        /** Each record straight to its partition's chunk. */
        DIRECT,
        /** The records gathered in task memory, then laid out by partition. */
        GATHERED,
        /** As Spark's writers do. */
        SPARK
    }

    /** The way for a map output of this dependency that is written now. */
    public Way wayFor(ShuffleDependency<?, ?, ?> dependency, SlabPool pool) {
        if (!isDirect(dependency, pool)) {
            return Way.SPARK;
        }
        return dependency.partitioner().numPartitions() <= maxPartitions ? Way.DIRECT : Way.GATHERED;
    }

    private boolean isDirect(ShuffleDependency<?, ?, ?> dependency, SlabPool pool) {
        return isOn
                && !mustCompress
                && !dependency.mapSideCombine()
                && dependency.serializer().supportsRelocationOfSerializedObjects()
                && !(mayCompress && isPressed(pool));
    }

    /** Raw bytes take more room: past half of the budget map outputs are compressed. */
    private static boolean isPressed(SlabPool pool) {
        PoolUsage usage = pool.usage();
        return usage.used() > usage.memoryLimit() / 2;
    }
}
