/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.api;

import java.util.concurrent.CompletableFuture;

/**
 * An open way to read one peer's memory without its help.
 *
 * <p>Threading: any thread may read; {@link #close} lets the leases that are out finish first.
 */
public interface PeerSession extends AutoCloseable {
    /** The peer this session reads. */
    PeerEndpoint peer();

    /**
     * Starts to read a range. The future completes with a lease that the caller closes, or exceptionally with a
     * {@link TransportException}; a transport that needs no waiting completes it at once.
     */
    CompletableFuture<ReadLease> read(RemoteRange range);

    /** Whether the range's slab lies in an overflow file on the peer's local disk. */
    boolean isOverflow(int slabId) throws TransportException;

    /** Whether the peer still runs and has its memory open. */
    boolean isAlive();

    /** Drops what is held of the peer's memory that the peer has itself given up, or that nobody reads any more. */
    void dropStale();

    @Override
    void close();
}
