/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.support;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;

/** A directory of its own on the machine's tmpfs; tests without one are skipped with the reason. */
public final class MemoryDirectory implements AutoCloseable {
    private static final Path SHM = Path.of("/dev/shm");

    private final Path path;

    private MemoryDirectory(Path path) {
        this.path = path;
    }

    /** Creates the directory, or skips the test if there is not so much room for it. */
    public static MemoryDirectory create(long bytes) throws IOException {
        assumeTrue(Files.isWritable(SHM), SHM + " cannot be written on this machine");
        long usable = Files.getFileStore(SHM).getUsableSpace();
        assumeTrue(usable >= bytes, SHM + " has " + usable + " bytes free, this test needs " + bytes);
        return new MemoryDirectory(Files.createTempDirectory(SHM, "transport-test-"));
    }

    /** Where it is. */
    public Path path() {
        return path;
    }

    /** Descriptors of this process that lead to files of this directory, whether they have a name or not. */
    public int openFiles() throws IOException {
        int open = 0;
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors) {
                try {
                    open += Files.readSymbolicLink(descriptor).toString().startsWith(path + "/") ? 1 : 0;
                } catch (NoSuchFileException e) {
                    // Closed since it was listed.
                }
            }
        }
        return open;
    }

    @Override
    public void close() throws IOException {
        Files.walkFileTree(path, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, IOException failure) throws IOException {
                Files.delete(directory);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
