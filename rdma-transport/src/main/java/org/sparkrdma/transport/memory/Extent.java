/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

import java.nio.ByteBuffer;

/**
 * A page-aligned part of a slab, owned by whoever allocated it until it is given back to its {@link SlabPool}.
 *
 * @param slab the slab it lies in
 * @param offset first byte in the slab
 * @param length bytes
 */
public record Extent(Slab slab, long offset, long length) {
    /** The extent's memory for reading and writing; the view does not own it. */
    public ByteBuffer view() {
        return slab.memory().slice((int) offset, (int) length);
    }

    /** A part of the extent's memory, read-only. */
    public ByteBuffer view(long from, long bytes) {
        if (from < 0 || bytes < 0 || bytes > length - from) {
            throw new IndexOutOfBoundsException(bytes + " bytes at " + from + " of an extent of " + length);
        }
        return slab.memory().slice((int) (offset + from), (int) bytes).asReadOnlyBuffer();
    }
}
