/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.read;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.spark.shuffle.rdma.compat.DirectMemory;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;

/**
 * Walks over the rows of a raw block where they lie. A row that straddles two slices, which only Spark's own writers
 * leave behind, is put together on the heap.
 *
 * <p>The memory of the slices must stay mapped for as long as a row may be looked at.
 */
final class RowCursor {
    private static final int SIZE_BYTES = 4;

    private final String block;
    private final List<ByteBuffer> slices;
    private final UnsafeRow row;
    private int next;
    private long at;
    private long limit;

    /**
     * @param block names the block in errors
     * @param slices its bytes in order, outside the heap
     * @param row pointed at one row after the other
     */
    RowCursor(String block, List<ByteBuffer> slices, UnsafeRow row) {
        this.block = block;
        this.slices = slices;
        this.row = row;
    }

    /**
     * Points the row at the next one; answers whether there is one.
     *
     * @throws IOException if the bytes are not rows
     */
    boolean advance() throws IOException {
        while (at == limit) {
            if (next == slices.size()) {
                return false;
            }
            enter(slices.get(next++));
        }
        long left = limit - at;
        if (left >= SIZE_BYTES) {
            int size = Integer.reverseBytes(Platform.getInt(null, at));
            if (size >= 0 && size <= left - SIZE_BYTES) {
                row.pointTo(null, at + SIZE_BYTES, size);
                at += SIZE_BYTES + (long) size;
                return true;
            }
        }
        assemble();
        return true;
    }

    private void enter(ByteBuffer slice) {
        at = DirectMemory.address(slice) + slice.position();
        limit = at + slice.remaining();
    }

    private void assemble() throws IOException {
        byte[] header = new byte[SIZE_BYTES];
        copy(header, SIZE_BYTES);
        int size = Integer.reverseBytes(Platform.getInt(header, Platform.BYTE_ARRAY_OFFSET));
        if (size < 0 || size > remaining()) {
            throw new IOException("block " + block + " has a row of " + size + " bytes with " + remaining()
                    + " bytes left: these are not rows");
        }
        byte[] bytes = new byte[size];
        copy(bytes, size);
        row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET, size);
    }

    private void copy(byte[] to, int bytes) throws IOException {
        int done = 0;
        while (done < bytes) {
            while (at == limit) {
                if (next == slices.size()) {
                    throw new IOException("block " + block + " ends within a row");
                }
                enter(slices.get(next++));
            }
            int step = (int) Math.min(bytes - done, limit - at);
            Platform.copyMemory(null, at, to, Platform.BYTE_ARRAY_OFFSET + (long) done, step);
            at += step;
            done += step;
        }
    }

    private long remaining() {
        long sum = limit - at;
        for (ByteBuffer slice : slices.subList(next, slices.size())) {
            sum += slice.remaining();
        }
        return sum;
    }
}
