/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.catalog;

import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.sparkrdma.transport.api.PeerSession;
import org.sparkrdma.transport.api.ReadLease;
import org.sparkrdma.transport.api.RemoteRange;
import org.sparkrdma.transport.api.TransportException;

/** Reads ranges of some executor's slabs: its own, or a peer's through a transport. */
public interface SlabAccess {
    /** The bytes of a range. */
    ReadLease read(RemoteRange range) throws IOException;

    /** Whether a slab lies in an overflow file. */
    boolean isOverflow(int slabId) throws IOException;

    /** A peer's slabs. */
    static SlabAccess of(PeerSession session, long timeoutMillis) {
        return new SlabAccess() {
            @Override
            public ReadLease read(RemoteRange range) throws IOException {
                try {
                    return session.read(range).get(timeoutMillis, TimeUnit.MILLISECONDS);
                } catch (ExecutionException e) {
                    throw e.getCause() instanceof IOException io ? io : new TransportException("READ failed", e);
                } catch (TimeoutException e) {
                    throw new TransportException("READ of " + range + " from executor "
                            + session.peer().executorId() + " did not complete within " + timeoutMillis + " ms");
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new TransportException("interrupted while reading " + range, e);
                }
            }

            @Override
            public boolean isOverflow(int slabId) throws IOException {
                return session.isOverflow(slabId);
            }
        };
    }
}
