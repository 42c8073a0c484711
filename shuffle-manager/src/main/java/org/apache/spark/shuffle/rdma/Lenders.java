/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma;

import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.shuffle.rdma.buffers.LentManagedBuffer;
import org.apache.spark.shuffle.rdma.catalog.MapOutput;

/** Whose memory this executor's own blocks are in while they are served. */
final class Lenders {
    /** Memory whose use somebody else ends. */
    static final LentManagedBuffer.Lender NOBODY = of(() -> {});

    private static final Cleaner FORGOTTEN = Cleaner.create();

    private Lenders() {}

    /** One use of a map output, which ends once, however often it is told to. */
    static Runnable oneUse(MapOutput output) {
        AtomicBoolean isOver = new AtomicBoolean();
        return () -> {
            if (isOver.compareAndSet(false, true)) {
                output.release();
            }
        };
    }

    /** Ends a use when its owner ends it. */
    static LentManagedBuffer.Lender of(Runnable use) {
        return new LentManagedBuffer.Lender() {
            @Override
            public void verifyAtEnd() {
                // This executor does not recycle what it lends.
            }

            @Override
            public void giveBack() {
                use.run();
            }
        };
    }

    /**
     * Ends a use when its buffer was forgotten. Spark's server drops the blocks that it has looked up for a request when
     * one more of the same request is not there, and threads without a task do not count their own uses.
     */
    static <B extends ManagedBuffer> B untilForgotten(B buffer, Runnable use) {
        var unused = FORGOTTEN.register(buffer, use);
        return buffer;
    }
}
