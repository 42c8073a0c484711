/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.metrics;

import java.io.Serializable;

/**
 * Bytes of shuffle blocks read, by the path they took.
 *
 * @param local read by the executor that wrote them, bytes
 * @param shm read from another executor's slabs mapped on the same host, bytes
 * @param rdma read by one-sided RDMA READ, bytes
 * @param netty read over Spark's own block transfer, bytes
 * @param overflow of the four above, the bytes of blocks of which at least a piece lay in an overflow file on local disk
 */
public record PathBytes(long local, long shm, long rdma, long netty, long overflow) implements Serializable {
    /** Nothing read yet. */
    public static final PathBytes NONE = new PathBytes(0, 0, 0, 0, 0);

    /** In words, for a log line. */
    public String describe() {
        return String.format(
                "%d bytes local, %d by shared memory, %d by RDMA READ, %d by Netty (%d of all from overflow files)",
                local, shm, rdma, netty, overflow);
    }

    /** What was read on top of an earlier reading of the same counters. */
    public PathBytes minus(PathBytes earlier) {
        return new PathBytes(
                local - earlier.local,
                shm - earlier.shm,
                rdma - earlier.rdma,
                netty - earlier.netty,
                overflow - earlier.overflow);
    }

    /** The sum of two readings of different counters. */
    public PathBytes plus(PathBytes other) {
        return new PathBytes(
                local + other.local,
                shm + other.shm,
                rdma + other.rdma,
                netty + other.netty,
                overflow + other.overflow);
    }
}
