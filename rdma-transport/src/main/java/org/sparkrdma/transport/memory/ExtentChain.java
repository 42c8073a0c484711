/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Bytes of any length, appended once and left where they are: a chain of extents that doubles from small to large. Its
 * owner either {@link #seal}s it, or gives it back with {@link #free}.
 *
 * <p>Threading: one thread appends; a sealed chain may be read by any.
 */
public final class ExtentChain {
    private static final long FIRST_EXTENT = 16 << 10;
    private static final long LARGEST_EXTENT = 4 << 20;

    private final SlabPool pool;
    private final List<Extent> extents = new ArrayList<>();
    /** Position in the chain of each extent's first byte. */
    private final List<Long> starts = new ArrayList<>();

    private ByteBuffer current = ByteBuffer.allocate(0);
    private long length;
    private boolean isSealed;
    private boolean isFreed;

    /** An empty chain; it allocates with the first byte. */
    public ExtentChain(SlabPool pool) {
        this.pool = pool;
    }

    /** A contiguous part of a chain: {@code length} bytes at {@code offset} of {@code slab}. */
    public record Piece(Slab slab, long offset, int length) {}

    /** Bytes appended so far. */
    public long length() {
        return length;
    }

    /** Whether a part of the chain lies on local disk. */
    public boolean hasOverflow() {
        return extents.stream().anyMatch(extent -> extent.slab().isOverflow());
    }

    /** Appends bytes. */
    public void append(byte[] bytes, int offset, int count) throws IOException {
        int at = offset;
        int end = offset + count;
        while (at < end) {
            int step = Math.min(end - at, room());
            current.put(bytes, at, step);
            at += step;
            length += step;
        }
    }

    /** Appends the bytes between a buffer's position and limit. */
    public void append(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            int step = Math.min(bytes.remaining(), room());
            current.put(bytes.slice(bytes.position(), step));
            bytes.position(bytes.position() + step);
            length += step;
        }
    }

    /**
     * Memory to write into directly, at least one byte; {@link #advance} says how much of it was used.
     *
     * @throws IOException if there is no room
     */
    public ByteBuffer writable() throws IOException {
        room();
        return current.slice();
    }

    /** Counts bytes that were written into {@link #writable}. */
    public void advance(int bytes) {
        current.position(current.position() + bytes);
        length += bytes;
    }

    /** Gives back what the last extent has left; nothing can be appended afterwards. */
    public void seal() {
        isSealed = true;
        if (!isFreed && !extents.isEmpty()) {
            int last = extents.size() - 1;
            extents.set(last, pool.trim(extents.get(last), length - starts.get(last)));
        }
        current = ByteBuffer.allocate(0);
    }

    /** The pieces of a range of the chain, in order. */
    public List<Piece> pieces(long from, long to) {
        checkRange(from, to);
        List<Piece> pieces = new ArrayList<>(2);
        long at = from;
        for (int i = extentAt(from); at < to; i++) {
            Extent extent = extents.get(i);
            long within = at - starts.get(i);
            long bytes = Math.min(extent.length() - within, to - at);
            pieces.add(new Piece(extent.slab(), extent.offset() + within, (int) bytes));
            at += bytes;
        }
        return pieces;
    }

    /** The memory of a range of the chain, read-only views in order. */
    public List<ByteBuffer> views(long from, long to) {
        checkRange(from, to);
        List<ByteBuffer> views = new ArrayList<>(2);
        long at = from;
        for (int i = extentAt(from); at < to; i++) {
            Extent extent = extents.get(i);
            long within = at - starts.get(i);
            long bytes = Math.min(extent.length() - within, to - at);
            views.add(extent.view(within, bytes));
            at += bytes;
        }
        return views;
    }

    /** Gives every extent back; doing so twice does nothing. */
    public void free() {
        if (!isFreed) {
            isFreed = true;
            current = ByteBuffer.allocate(0);
            extents.forEach(pool::free);
        }
    }

    private void checkRange(long from, long to) {
        if (isFreed) {
            throw new IllegalStateException("the map output was already given back");
        }
        if (from < 0 || from > to || to > length) {
            throw new IndexOutOfBoundsException("bytes " + from + " to " + to + " of a chain of " + length);
        }
    }

    private int extentAt(long position) {
        int low = 0;
        int high = starts.size() - 1;
        while (low < high) {
            int middle = (low + high + 1) >>> 1;
            if (starts.get(middle) <= position) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }

    private int room() throws IOException {
        if (!current.hasRemaining()) {
            if (isFreed) {
                throw new IOException("the map output was already given back");
            }
            if (isSealed) {
                throw new IllegalStateException("the map output is sealed: nothing can be appended");
            }
            long next = extents.isEmpty()
                    ? FIRST_EXTENT
                    : Math.min(extents.get(extents.size() - 1).length() * 2, LARGEST_EXTENT);
            Extent extent = pool.allocate(Math.min(next, pool.maxExtent()));
            starts.add(
                    extents.isEmpty()
                            ? 0L
                            : starts.get(starts.size() - 1)
                                    + extents.get(extents.size() - 1).length());
            extents.add(extent);
            current = extent.view();
        }
        return current.remaining();
    }
}
