/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.read;

import java.util.Optional;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.shuffle.rdma.fallback.Bootstrap;
import org.apache.spark.shuffle.rdma.fallback.NettyPath;
import org.apache.spark.shuffle.rdma.fallback.PeerName;
import org.apache.spark.shuffle.rdma.metrics.PathCounters;
import org.sparkrdma.transport.api.PeerSession;
import org.sparkrdma.transport.select.PathSelector;

/**
 * What all reduce tasks of an executor share.
 *
 * @param selector the path to each peer
 * @param bootstrap asks a peer for its endpoint
 * @param netty Spark's own transfer, framed
 * @param transfer Spark's own transfer, as it is
 * @param counters bytes by path
 * @param isVerifying whether checksums are verified
 * @param readTimeoutMillis longest wait for a transport's answer
 */
public record ReadPaths(
        PathSelector<PeerName> selector,
        Bootstrap bootstrap,
        NettyPath netty,
        BlockStoreClient transfer,
        PathCounters counters,
        boolean isVerifying,
        long readTimeoutMillis) {

    /** An open session and the name of its transport. */
    record Open(PeerSession session, String transport) {}

    /** What to read a peer with; nothing means Netty. */
    Optional<Open> open(PeerName peer) {
        Optional<PeerSession> session = selector.session(peer, () -> bootstrap.ask(peer));
        // Another task may have marked the path down since: then the session is closed.
        String transport = selector.path(peer).path();
        return session.filter(open -> !transport.equals(PathSelector.FALLBACK)).map(open -> new Open(open, transport));
    }
}
