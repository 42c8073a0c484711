/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.buffers;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.List;
import org.apache.spark.network.util.AbstractFileRegion;

/** Sends buffers of more than 2 GiB in all, which no Netty buffer holds, without a copy. */
final class SlicesFileRegion extends AbstractFileRegion {
    private static final int MOST_AT_ONCE = 1 << 20;

    private final List<ByteBuffer> slices;
    private final long count;
    private int current;
    private long transferred;

    SlicesFileRegion(List<ByteBuffer> slices, long count) {
        this.slices = slices.stream().map(ByteBuffer::duplicate).toList();
        this.count = count;
    }

    @Override
    public long position() {
        return 0;
    }

    @Override
    public long transferred() {
        return transferred;
    }

    @Override
    public long count() {
        return count;
    }

    @Override
    public long transferTo(WritableByteChannel target, long position) throws IOException {
        if (position != transferred) {
            throw new IllegalArgumentException("asked for byte " + position + " when " + transferred + " were sent");
        }
        long before = transferred;
        while (current < slices.size()) {
            ByteBuffer slice = slices.get(current);
            if (!slice.hasRemaining()) {
                current++;
                continue;
            }
            ByteBuffer step = slice.slice(slice.position(), Math.min(slice.remaining(), MOST_AT_ONCE));
            int written = target.write(step);
            slice.position(slice.position() + written);
            transferred += written;
            if (step.hasRemaining()) {
                break;
            }
        }
        return transferred - before;
    }

    @Override
    protected void deallocate() {
        // The managed buffer behind the region owns the memory.
    }
}
