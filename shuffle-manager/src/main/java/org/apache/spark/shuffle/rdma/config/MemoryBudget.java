/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.config;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.OptionalLong;
import org.apache.spark.SparkConf;
import org.apache.spark.network.util.JavaUtils;

/**
 * What {@code spark.shuffle.rdma.memory.max=auto} amounts to: a share of the memory that the executor's heap and
 * Spark's own off-heap memory leave free. On YARN, which kills a container that outgrows its request, no more than half
 * of the overhead that was asked for.
 *
 * @param total memory that this JVM may see (of its container, if in one), bytes
 * @param taken the most that the heap and Spark's off-heap memory may grow to, bytes
 * @param yarnOverhead the memory overhead of a YARN container, bytes; empty elsewhere
 */
record MemoryBudget(long total, long taken, OptionalLong yarnOverhead) {
    private static final long MIB = 1L << 20;

    /** One default slab: with less, slabs are hardly worth having. */
    private static final long LEAST = 64 * MIB;

    /** The least explicit value of the setting, which a tiny YARN overhead does not undercut. */
    private static final long LEAST_ON_YARN = MIB;

    /** The budget of this JVM under {@code conf}. */
    static MemoryBudget ofThisJvm(SparkConf conf) {
        OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        return of(conf, system.getTotalMemorySize(), Runtime.getRuntime().maxMemory());
    }

    /** The budget of a JVM that sees {@code total} bytes of memory and whose heap may grow to {@code maxHeap}. */
    static MemoryBudget of(SparkConf conf, long total, long maxHeap) {
        long offHeap = conf.getBoolean("spark.memory.offHeap.enabled", false)
                ? conf.getSizeAsBytes("spark.memory.offHeap.size", "0")
                : 0;
        boolean yarn = conf.get("spark.master", "").startsWith("yarn");
        return new MemoryBudget(
                total, maxHeap + offHeap, yarn ? OptionalLong.of(yarnOverhead(conf)) : OptionalLong.empty());
    }

    /** Most bytes that slabs may take. */
    long bytes() {
        long share = Math.max(LEAST, Math.min(total / 8, (total - taken) / 2));
        return yarnOverhead.isPresent()
                ? Math.max(LEAST_ON_YARN, Math.min(share, yarnOverhead.getAsLong() / 2))
                : share;
    }

    /** As Spark's YARN client computes it; sizes without a suffix are MiB there. */
    private static long yarnOverhead(SparkConf conf) {
        String explicit = conf.get("spark.executor.memoryOverhead", "");
        if (!explicit.isEmpty()) {
            return JavaUtils.byteStringAsMb(explicit) * MIB;
        }
        double factor = conf.getDouble("spark.executor.memoryOverheadFactor", 0.1);
        long heap = conf.getSizeAsMb("spark.executor.memory", "1g") * MIB;
        long least = conf.getSizeAsMb("spark.executor.minMemoryOverhead", "384m") * MIB;
        return Math.max(least, (long) (factor * heap));
    }
}
