/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.read;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Remembers, in the order in which Spark's reader will count them, which fetched blocks came from this host's memory.
 * Spark counts every block that our client delivers as remote; blocks read from a neighbour's memory are local to the
 * host, and users know them as local bytes from Spark's own host-local reading.
 *
 * <p>Threading: blocks are delivered by several threads and counted by the task's.
 */
final class PathLedger {
    private final Deque<Boolean> isHostLocal = new ArrayDeque<>();

    /** Delivers a block; what is delivered and what is remembered stay in the same order. */
    synchronized void deliver(boolean fromThisHost, Runnable delivery) {
        isHostLocal.add(fromThisHost);
        delivery.run();
    }

    /** Whether the next block that the reader counts came from this host's memory. */
    synchronized boolean nextIsHostLocal() {
        return Boolean.TRUE.equals(isHostLocal.poll());
    }
}
