/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.sparkrdma.transport.api.PeerEndpoint.SharedFile;

/**
 * One large piece of shareable memory, allocated once and recycled. Its extents are handed out by {@link SlabPool}.
 *
 * <p>Threading: the memory may be used by the owners of its extents at the same time; the allocator is guarded by the
 * pool.
 */
public final class Slab {
    private final int id;
    private final int generation;
    private final boolean isOverflow;
    private final SegmentFile file;
    private final ByteBuffer memory;
    private final BuddyAllocator allocator;

    Slab(int id, int generation, boolean isOverflow, SegmentFile file) {
        this.id = id;
        this.generation = generation;
        this.isOverflow = isOverflow;
        this.file = file;
        this.memory = file.memory();
        this.allocator = new BuddyAllocator(memory.capacity());
    }

    /** Index in the slab table; at least 1. */
    public int id() {
        return id;
    }

    /** Differs between two slabs that had the same id. */
    public int generation() {
        return generation;
    }

    /** Whether the slab lies in a file on local disk rather than in shared memory. */
    public boolean isOverflow() {
        return isOverflow;
    }

    /** Bytes. */
    public long length() {
        return memory.capacity();
    }

    /** How a peer finds the slab's file. */
    public SharedFile file() {
        return file.shared();
    }

    /** Number in the name of the slab's file. */
    public long sequence() {
        return file.sequence();
    }

    /** The whole memory, position 0 to its end. */
    public ByteBuffer memory() {
        return memory.duplicate();
    }

    BuddyAllocator allocator() {
        return allocator;
    }

    boolean isUnused() {
        return allocator.freeBytes() == length();
    }

    void close() throws IOException {
        file.close();
    }
}
