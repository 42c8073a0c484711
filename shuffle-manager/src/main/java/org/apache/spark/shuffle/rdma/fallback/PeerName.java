/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.fallback;

/**
 * An executor as Spark names it when it fetches blocks.
 *
 * @param executorId Spark's id, unique in the application
 * @param host where its block manager listens
 * @param port where its block manager listens
 */
public record PeerName(String executorId, String host, int port) {
    @Override
    public String toString() {
        return "executor " + executorId + " at " + host + ":" + port;
    }
}
