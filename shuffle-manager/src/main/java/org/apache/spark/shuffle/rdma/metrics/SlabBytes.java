/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.metrics;

import java.io.Serializable;
import org.sparkrdma.transport.memory.PoolUsage;

/**
 * Memory that an executor's slabs take, bytes.
 *
 * @param limit most that slabs in shared memory may take
 * @param memory slabs in shared memory, touched ahead of need or used
 * @param memoryPeak most that slabs in shared memory ever took
 * @param live of all slabs, what map outputs take now, their indexes and what is being written included
 * @param overflow slabs in files on local disk
 * @param overflowPeak most that slabs on local disk ever took
 */
public record SlabBytes(long limit, long memory, long memoryPeak, long live, long overflow, long overflowPeak)
        implements Serializable {
    /** What a pool holds. */
    public static SlabBytes of(PoolUsage usage) {
        return new SlabBytes(
                usage.memoryLimit(),
                usage.memory(),
                usage.memoryPeak(),
                usage.used() - usage.quarantined(),
                usage.overflow(),
                usage.overflowPeak());
    }

    /** In words, for a log line. */
    public String describe() {
        return String.format(
                "slabs: at most %d of %d bytes in shared memory, at most %d on local disk",
                memoryPeak, limit, overflowPeak);
    }
}
