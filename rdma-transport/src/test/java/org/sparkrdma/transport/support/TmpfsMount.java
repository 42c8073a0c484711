/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.support;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A small tmpfs of its own; tests of users who may not mount one are skipped with the reason. */
public final class TmpfsMount implements AutoCloseable {
    private final Path path;

    private TmpfsMount(Path path) {
        this.path = path;
    }

    /** Mounts a tmpfs of so many bytes on a new directory. */
    public static TmpfsMount create(Path parent, long bytes) throws IOException {
        Path path = Files.createTempDirectory(parent, "tmpfs-");
        boolean isMounted;
        try {
            isMounted = run("mount", "-t", "tmpfs", "-o", "size=" + bytes, "tmpfs", path.toString());
        } catch (IOException e) {
            isMounted = false; // No such command.
        }
        assumeTrue(isMounted, "a tmpfs cannot be mounted by this user");
        return new TmpfsMount(path);
    }

    /** Where it is. */
    public Path path() {
        return path;
    }

    /** Bytes that can be written. */
    public long usable() throws IOException {
        return Files.getFileStore(path).getUsableSpace();
    }

    /** Unmounts it; mappings of its files stay valid. */
    @Override
    public void close() throws IOException {
        run("umount", "-l", path.toString());
    }

    private static boolean run(String... command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        return process.onExit().orTimeout(10, TimeUnit.SECONDS).join().exitValue() == 0;
    }
}
