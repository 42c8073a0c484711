/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.api;

import java.nio.ByteBuffer;

/**
 * Bytes that a transport has read and lends until {@link #close}. The bytes may lie in the peer's own memory (shared
 * memory) or in a receive buffer (RDMA): they are valid only while the lease is open.
 */
public interface ReadLease extends AutoCloseable {
    /** The bytes, read-only, position 0 to limit; every call answers a buffer with a position of its own. */
    ByteBuffer bytes();

    /** Gives the bytes back; closing twice does nothing. */
    @Override
    void close();
}
