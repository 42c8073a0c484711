/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.shm;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Bounds how much of peers' memory counts as this process's own. Mapped pages that were read stay resident until they
 * are unmapped, although they are seldom read twice; so whenever so many bytes have been read a new round begins, and
 * sessions let go of what they mapped in rounds before.
 *
 * <p>Threading: any thread.
 */
final class ResidentBound {
    private final long bytesPerRound;
    private final AtomicLong read = new AtomicLong();

    /** A bound of so many bytes, besides those that readers hold on to. */
    ResidentBound(long bytesPerRound) {
        this.bytesPerRound = bytesPerRound;
    }

    /** Counts bytes that are about to be read; answers in which round that is. */
    long count(long bytes) {
        return read.addAndGet(bytes) / bytesPerRound;
    }
}
