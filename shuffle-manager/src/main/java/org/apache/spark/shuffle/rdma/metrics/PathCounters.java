/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.metrics;

import java.util.concurrent.atomic.LongAdder;

/**
 * What this executor has read, by path.
 *
 * <p>Threading: any thread adds, without a lock.
 */
public final class PathCounters {
    private final LongAdder local = new LongAdder();
    private final LongAdder shm = new LongAdder();
    private final LongAdder netty = new LongAdder();
    private final LongAdder overflow = new LongAdder();

    /** A block of this executor's own. */
    public void local(long bytes, boolean isOverflow) {
        add(local, bytes, isOverflow);
    }

    /** A block read by a transport from a peer. */
    public void direct(String transport, long bytes, boolean isOverflow) {
        if (!transport.equals("shm")) {
            throw new IllegalArgumentException("no counter for the path " + transport);
        }
        add(shm, bytes, isOverflow);
    }

    /** A block that came over Spark's own block transfer. */
    public void netty(long bytes, boolean isOverflow) {
        add(netty, bytes, isOverflow);
    }

    /** The counters as they are now. */
    public PathBytes read() {
        return new PathBytes(local.sum(), shm.sum(), 0, netty.sum(), overflow.sum());
    }

    private void add(LongAdder path, long bytes, boolean isOverflow) {
        path.add(bytes);
        if (isOverflow) {
            overflow.add(bytes);
        }
    }
}
