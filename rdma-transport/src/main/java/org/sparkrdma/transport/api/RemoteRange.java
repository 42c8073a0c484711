/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.api;

/**
 * A contiguous range of a peer's memory.
 *
 * @param slabId the peer's slab, an index of its slab table
 * @param offset first byte within the slab
 * @param length bytes; a slab is at most 1 GiB, so that a range always fits one buffer
 */
public record RemoteRange(int slabId, long offset, long length) {
    /** Refuses ranges that no slab can hold. */
    public RemoteRange {
        if (slabId < 0 || offset < 0 || length < 0 || length > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "not a range of a slab: slab " + slabId + ", offset " + offset + ", length " + length);
        }
    }
}
