/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.buffers;

import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.network.buffer.ManagedBuffer;

/**
 * A block in memory that somebody lends: slabs of this executor, a peer's mapped slabs, a network buffer. No copy is
 * made; the lender gets it back when the last user has released it.
 *
 * <p>Threading: the count may be changed by any thread; streams belong to their reader.
 */
public final class LentManagedBuffer extends ManagedBuffer {
    private final List<ByteBuffer> slices;
    private final long size;
    private final Lender lender;
    private final AtomicInteger users = new AtomicInteger(1);

    /** Whose memory it is. */
    public interface Lender {
        /** Called when a reader has read the last byte: was it still the block's? */
        void verifyAtEnd() throws IOException;

        /** Called once, when nobody uses the memory any more. */
        void giveBack();
    }

    /**
     * @param slices the block's bytes in order, each from its position to its limit
     * @param lender gets the memory back after {@link #release} as many times as {@link #retain} and once more
     */
    public LentManagedBuffer(List<ByteBuffer> slices, Lender lender) {
        this.slices = List.copyOf(slices);
        this.size = slices.stream().mapToLong(ByteBuffer::remaining).sum();
        this.lender = lender;
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public ByteBuffer nioByteBuffer() throws IOException {
        requireUsed();
        if (slices.size() == 1) {
            return slices.get(0).duplicate();
        }
        if (size > Integer.MAX_VALUE) {
            throw new IOException("a block of " + size + " bytes does not fit one buffer: read it as a stream");
        }
        ByteBuffer whole = ByteBuffer.allocate((int) size);
        slices.forEach(slice -> whole.put(slice.duplicate()));
        return whole.flip();
    }

    @Override
    public InputStream createInputStream() {
        requireUsed();
        // The stream keeps this buffer reachable, and with it the memory, as long as it is read.
        return new SlicesInputStream(slices, this::verifyAtEnd);
    }

    @Override
    public ManagedBuffer retain() {
        if (users.getAndUpdate(now -> now > 0 ? now + 1 : now) <= 0) {
            throw givenBack();
        }
        return this;
    }

    @Override
    public ManagedBuffer release() {
        if (users.decrementAndGet() == 0) {
            lender.giveBack();
        }
        return this;
    }

    @Override
    public Object convertToNetty() {
        requireUsed();
        return size > Integer.MAX_VALUE ? new SlicesFileRegion(slices, size) : asByteBuf();
    }

    /** Where Spark encrypts its RPC by SSL, file regions cannot be sent. Spark 3.5 does not know this method. */
    @SuppressWarnings("MissingOverride")
    public Object convertToNettyForSsl() {
        requireUsed();
        return size > Integer.MAX_VALUE ? createInputStream() : asByteBuf();
    }

    private Object asByteBuf() {
        return Unpooled.wrappedBuffer(
                slices.size(), slices.stream().map(ByteBuffer::duplicate).toArray(ByteBuffer[]::new));
    }

    private void verifyAtEnd() throws IOException {
        lender.verifyAtEnd();
    }

    /** A fault of whoever uses it, never of the block: no IOException, after which Spark would look for a bad disk. */
    private void requireUsed() {
        if (users.get() <= 0) {
            throw givenBack();
        }
    }

    private static IllegalStateException givenBack() {
        return new IllegalStateException("a block's memory was used after it had been given back");
    }
}
