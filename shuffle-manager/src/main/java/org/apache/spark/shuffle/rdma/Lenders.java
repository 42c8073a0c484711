/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma;

import org.apache.spark.shuffle.rdma.buffers.LentManagedBuffer;
import org.apache.spark.shuffle.rdma.catalog.MapOutput;

/** Whose memory this executor's own blocks are in while they are served. */
final class Lenders {
    /** Memory whose use somebody else ends. */
    static final LentManagedBuffer.Lender NOBODY = of(() -> {});

    private Lenders() {}

    /** A map output that is held until the buffer is released. */
    static LentManagedBuffer.Lender of(MapOutput output) {
        return of(output::release);
    }

    private static LentManagedBuffer.Lender of(Runnable giveBack) {
        return new LentManagedBuffer.Lender() {
            @Override
            public void verifyAtEnd() {
                // This executor does not recycle what it lends.
            }

            @Override
            public void giveBack() {
                giveBack.run();
            }
        };
    }
}
