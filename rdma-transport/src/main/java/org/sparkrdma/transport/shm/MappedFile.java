/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.shm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicInteger;
import org.sparkrdma.transport.memory.Mappings;

/**
 * A peer's file mapped read-only, counted: it is unmapped when its owner has closed it and the last lease came back,
 * so that pages the peer has given up are not pinned until the collector looks.
 *
 * <p>Threading: any thread; the count is the only state that changes.
 */
final class MappedFile implements AutoCloseable {
    private final MappedByteBuffer memory;
    /** One for the owner and one for each lease; unmapped at 0, never raised from 0. */
    private final AtomicInteger users = new AtomicInteger(1);

    private MappedFile(MappedByteBuffer memory) {
        this.memory = memory;
    }

    /**
     * Maps the first {@code length} bytes of a file. An interrupt does not make it fail, since that would be taken for a
     * fault of the peer: it is kept for whoever looks next.
     */
    static MappedFile open(Path file, long length) throws IOException {
        boolean isInterrupted = false;
        try {
            while (true) {
                try {
                    return openOnce(file, length);
                } catch (ClosedByInterruptException e) {
                    isInterrupted |= Thread.interrupted();
                }
            }
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static MappedFile openOnce(Path file, long length) throws IOException {
        if (length <= 0 || length > Integer.MAX_VALUE) {
            throw new IOException("its owner said that " + file + " has " + length + " bytes");
        }
        // What a descriptor's number stands for may have changed: opening a pipe would wait for its other end.
        if (!Files.isRegularFile(file)) {
            throw new IOException(file + " is not there, or is no file");
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            if (channel.size() < length) {
                throw new IOException(file + " has " + channel.size() + " bytes, its owner said " + length);
            }
            return new MappedFile(channel.map(FileChannel.MapMode.READ_ONLY, 0, length));
        }
    }

    /** Whether the caller may use the memory until it calls {@link #release}. */
    boolean retain() {
        int now = users.get();
        while (now > 0) {
            if (users.compareAndSet(now, now + 1)) {
                return true;
            }
            now = users.get();
        }
        return false;
    }

    void release() {
        if (users.decrementAndGet() == 0) {
            Mappings.unmap(memory);
        }
    }

    /** The memory, for those who retain it. */
    ByteBuffer memory() {
        return memory.duplicate();
    }

    long length() {
        return memory.capacity();
    }

    /** Gives up the owner's own use; the owner calls it once. */
    @Override
    public void close() {
        release();
    }
}
