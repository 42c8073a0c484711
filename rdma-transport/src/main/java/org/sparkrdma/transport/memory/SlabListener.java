/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

/** Told of every slab before any extent of it is handed out, and after the last one came back. */
public interface SlabListener {
    /** A slab is there: publish it, register it with devices. */
    void slabOpened(Slab slab);

    /** A slab is about to go: withdraw it. */
    void slabClosed(Slab slab);
}
