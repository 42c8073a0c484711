/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.api;

/**
 * One way to read peers' memory. Implementations are chosen per peer by {@code select.PathSelector}.
 *
 * <p>Threading: {@link #connect} may be called by any thread, for different peers at the same time.
 */
public interface BlockTransport extends AutoCloseable {
    /** Short lower-case name, as in {@code spark.shuffle.rdma.paths}. */
    String name();

    /** Whether this process can use the transport at all, probed once. */
    Availability availability();

    /**
     * Opens a session with a peer, within the transport's own timeout.
     *
     * @throws TransportException if this transport cannot reach the peer; the message is the cause shown to users
     */
    PeerSession connect(PeerEndpoint peer) throws TransportException;

    @Override
    void close();
}
