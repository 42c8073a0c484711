/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.buffers;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.List;

/** Reads buffers one after the other; asks at the end whether what was read still was what it should be. */
final class SlicesInputStream extends InputStream {
    private final Iterator<ByteBuffer> slices;
    private final EndCheck endCheck;
    private ByteBuffer current = ByteBuffer.allocate(0);
    private long left;
    private boolean isChecked;

    /** Asked when the last byte has been read, until it answers. */
    @FunctionalInterface
    interface EndCheck {
        void verify() throws IOException;
    }

    SlicesInputStream(List<ByteBuffer> slices, EndCheck endCheck) {
        this.slices = slices.iterator();
        this.left = slices.stream().mapToLong(ByteBuffer::remaining).sum();
        this.endCheck = endCheck;
    }

    @Override
    public int read() throws IOException {
        if (!advance()) {
            return -1;
        }
        left--;
        return current.get() & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        if (!advance()) {
            return -1;
        }
        int step = Math.min(length, current.remaining());
        current.get(bytes, offset, step);
        left -= step;
        return step;
    }

    @Override
    public long skip(long count) throws IOException {
        long skipped = 0;
        while (skipped < count && advance()) {
            int step = (int) Math.min(count - skipped, current.remaining());
            current.position(current.position() + step);
            skipped += step;
            left -= step;
        }
        return skipped;
    }

    @Override
    public int available() {
        return (int) Math.min(left, Integer.MAX_VALUE);
    }

    private boolean advance() throws IOException {
        while (!current.hasRemaining()) {
            if (!slices.hasNext()) {
                if (!isChecked) {
                    endCheck.verify();
                    isChecked = true;
                }
                return false;
            }
            current = slices.next().duplicate();
        }
        return true;
    }
}
