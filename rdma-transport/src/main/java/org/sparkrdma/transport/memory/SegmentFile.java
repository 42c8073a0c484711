/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkrdma.transport.api.Availability;
import org.sparkrdma.transport.api.PeerEndpoint.SharedFile;
import org.sparkrdma.transport.api.ProcessIdentity;

/**
 * A file of memory that this process owns and peers of the same user can map: created with mode 0600, every page
 * written once so that no later store can find the file system full, mapped, and unlinked at once where peers can find
 * it by descriptor.
 *
 * <p>The file is never truncated: a peer that still maps it keeps valid memory. Closing gives up the descriptor; the
 * mapping itself goes when the collector finds it unused, so that a late reader in this process never touches memory
 * that is gone, or with {@link #unmap} at once.
 */
public final class SegmentFile implements AutoCloseable {
    private static final int TOUCH_BYTES = 1 << 20;

    private final FileChannel channel;
    private final MappedByteBuffer memory;
    private final SharedFile shared;
    private final long sequence;
    private final Path named;

    private SegmentFile(FileChannel channel, MappedByteBuffer memory, SharedFile shared, long sequence, Path named) {
        this.sequence = sequence;
        this.channel = channel;
        this.memory = memory;
        this.shared = shared;
        this.named = named;
    }

    /** Creates segment files for one process. */
    public static final class Factory {
        private final ProcessIdentity self = ProcessIdentity.current();
        private final FileDescriptors descriptors = new FileDescriptors();
        private final AtomicLong sequence = new AtomicLong();
        private final ByteBuffer zeros = ByteBuffer.allocateDirect(TOUCH_BYTES).asReadOnlyBuffer();

        /** Whether files can go without a name; if not they keep one until they are closed. */
        public Availability anonymity() {
            return descriptors.availability();
        }

        /**
         * Creates, touches and maps a file.
         *
         * @param directory where
         * @param bytes how large, at most {@link Integer#MAX_VALUE}
         * @throws IOException if the directory is full or cannot be written, or the thread is interrupted; nothing is
         *     left behind
         */
        public SegmentFile create(Path directory, long bytes) throws IOException {
            if (bytes <= 0 || bytes > Integer.MAX_VALUE) {
                throw new IllegalArgumentException("a file of " + bytes + " bytes, at most " + Integer.MAX_VALUE);
            }
            long number = sequence.getAndIncrement();
            Path path = SegmentNames.of(directory, self, number);
            FileChannel channel = open(path);
            boolean isNamed = true;
            try {
                int descriptor = -1;
                if (anonymity().isAvailable()) {
                    descriptor = descriptors.numberOf(channel);
                    Files.deleteIfExists(path);
                    isNamed = false;
                }
                touch(channel, bytes);
                MappedByteBuffer memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes);
                SharedFile shared = new SharedFile(descriptor, isNamed ? path.toString() : "", bytes);
                return new SegmentFile(channel, memory, shared, number, isNamed ? path : null);
            } catch (IOException | RuntimeException | OutOfMemoryError e) {
                IOException failure = e instanceof IOException io
                        ? io
                        : new IOException("cannot map " + bytes + " bytes of a file in " + directory + ": " + e, e);
                discard(channel, isNamed ? path : null, failure);
                throw failure;
            }
        }

        private static void discard(FileChannel channel, Path named, IOException failure) {
            try (channel) {
                if (named != null) {
                    Files.deleteIfExists(named);
                }
            } catch (IOException e) {
                failure.addSuppressed(e);
            }
        }

        private static FileChannel open(Path path) throws IOException {
            try {
                return FileChannel.open(
                        path,
                        Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
                        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            } catch (FileAlreadyExistsException e) {
                throw new IOException("a segment file of this very process is already there: " + path, e);
            } catch (UnsupportedOperationException e) {
                throw new IOException("the file system of " + path + " knows no file modes", e);
            }
        }

        private void touch(FileChannel channel, long bytes) throws IOException {
            long written = 0;
            while (written < bytes) {
                ByteBuffer page = zeros.slice(0, (int) Math.min(TOUCH_BYTES, bytes - written));
                written += channel.write(page, written);
            }
        }
    }

    /** The mapped memory; valid as long as the answer is reachable. */
    public ByteBuffer memory() {
        return memory.duplicate();
    }

    /** How a peer finds the file. */
    public SharedFile shared() {
        return shared;
    }

    /** Number in the file's name, unique in this process. */
    public long sequence() {
        return sequence;
    }

    /** Ends the mapping at once: nobody in this process will touch the memory again. */
    void unmap() {
        Mappings.unmap(memory);
    }

    @Override
    public void close() throws IOException {
        try (channel) {
            if (named != null) {
                Files.deleteIfExists(named);
            }
        }
    }
}
