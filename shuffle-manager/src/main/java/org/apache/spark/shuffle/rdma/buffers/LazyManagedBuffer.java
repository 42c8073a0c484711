/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.buffers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.network.buffer.ManagedBuffer;

/**
 * A block that is made when it is first looked at, which is when Spark's server sends it: of a long list of blocks that
 * a peer has asked for, only those on their way take memory.
 *
 * <p>Threading: any thread; one makes the block.
 */
public final class LazyManagedBuffer extends ManagedBuffer {
    private final Maker maker;
    private final Opener opener;
    private final Runnable giveBack;
    private final AtomicInteger users = new AtomicInteger(1);
    private ManagedBuffer made;

    /** Makes the block. */
    @FunctionalInterface
    public interface Maker {
        /** The block as it is to be sent. */
        ManagedBuffer make() throws IOException;
    }

    /** Opens a stream of the block as this process reads it. */
    @FunctionalInterface
    public interface Opener {
        /** A stream from the first byte on. */
        InputStream open() throws IOException;
    }

    /**
     * @param maker called at most once
     * @param giveBack called once, when nobody uses the block any more
     */
    public LazyManagedBuffer(Maker maker, Runnable giveBack) {
        this(maker, null, giveBack);
    }

    /**
     * @param maker called at most once
     * @param opener of streams, where they differ from what is sent; may be null
     * @param giveBack called once, when nobody uses the block any more
     */
    public LazyManagedBuffer(Maker maker, Opener opener, Runnable giveBack) {
        this.maker = maker;
        this.opener = opener;
        this.giveBack = giveBack;
    }

    @Override
    public long size() {
        try {
            return made().size();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public ByteBuffer nioByteBuffer() throws IOException {
        return made().nioByteBuffer();
    }

    @Override
    public InputStream createInputStream() throws IOException {
        return opener == null ? made().createInputStream() : opener.open();
    }

    @Override
    public ManagedBuffer retain() {
        users.incrementAndGet();
        return this;
    }

    @Override
    public ManagedBuffer release() {
        if (users.decrementAndGet() == 0) {
            synchronized (this) {
                made = null;
            }
            giveBack.run();
        }
        return this;
    }

    @Override
    public Object convertToNetty() throws IOException {
        return made().convertToNetty();
    }

    /** Where Spark encrypts its RPC by SSL, file regions cannot be sent. Spark 3.5 does not know this method. */
    @SuppressWarnings("MissingOverride")
    public Object convertToNettyForSsl() throws IOException {
        return made() instanceof LentManagedBuffer lent ? lent.convertToNettyForSsl() : made().nioByteBuffer();
    }

    private synchronized ManagedBuffer made() throws IOException {
        if (made == null) {
            if (users.get() <= 0) {
                throw new IOException("a block was used after it had been given back");
            }
            made = maker.make();
        }
        return made;
    }
}
