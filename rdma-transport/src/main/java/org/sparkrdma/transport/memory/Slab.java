/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
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
    /** Lengths of the extents that are out, by offset. */
    private final Map<Long, Long> lent = new HashMap<>();
    /** Whether nothing was out when last looked at, and since when, nanoseconds. */
    private boolean isIdle;

    private long idleSince;

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

    /** An extent of {@code size} bytes, a block size, or null if there is no room for it. */
    Extent lend(long size) {
        long offset = allocator.allocate(size);
        if (offset < 0) {
            return null;
        }
        lent.put(offset, size);
        isIdle = false;
        return new Extent(this, offset, size);
    }

    /** Frees the end of an extent that is out. */
    Extent shorten(Extent extent, long kept) {
        if (!lent.replace(extent.offset(), extent.length(), kept)) {
            throw notLent(extent);
        }
        allocator.free(extent.offset() + kept, extent.length() - kept);
        return new Extent(this, extent.offset(), kept);
    }

    /** Takes an extent back; its memory stays untouched until {@link #recycle}. */
    void takeBack(Extent extent) {
        if (!lent.remove(extent.offset(), extent.length())) {
            throw notLent(extent);
        }
    }

    /** Frees the memory of an extent that was taken back. */
    void recycle(Extent extent) {
        allocator.free(extent.offset(), extent.length());
    }

    boolean canLend(long size) {
        return allocator.canAllocate(size);
    }

    long freeBytes() {
        return allocator.freeBytes();
    }

    boolean isUnused() {
        return allocator.freeBytes() == length();
    }

    /** Whether nothing has been out for so long, counted from the first look; nanoseconds. */
    boolean isIdleFor(long nanos, long now) {
        if (!isUnused()) {
            return false;
        }
        if (!isIdle) {
            isIdle = true;
            idleSince = now;
        }
        return now - idleSince >= nanos;
    }

    private IllegalStateException notLent(Extent extent) {
        return new IllegalStateException("not an extent that is out (given back twice?): " + extent.length()
                + " bytes at " + extent.offset() + " of slab " + id);
    }

    void close() throws IOException {
        file.close();
    }

    /** Ends the mapping of a slab of which nothing is out, nor ever will be. */
    void unmap() {
        file.unmap();
    }
}
