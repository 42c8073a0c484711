/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.sparkrdma.transport.api.HostIdentity;
import org.sparkrdma.transport.api.ProcessIdentity;

/**
 * Names of segment files: {@code spark-rdma-shuffle-<process-id namespace>-<pid>-<start time>-<sequence>}. Where files can be anonymous the
 * name lives for the microseconds between creation and unlinking; where they cannot it stays, and the next start of any
 * executor in the same process-id namespace sweeps what dead processes left.
 */
public final class SegmentNames {
    private static final String PREFIX = "spark-rdma-shuffle-";
    private static final Pattern NAME = Pattern.compile(PREFIX + "(\\d*)-(\\d{1,18})-(\\d{1,18})-(\\d{1,18})");
    /** The inode in {@code pid:[4026531836]}; a process of another namespace cannot be seen, and is left alone. */
    private static final String NAMESPACE =
            HostIdentity.current().pidNamespace().replaceAll("\\D", "");

    private SegmentNames() {}

    /** Where a process's segment lies. */
    public static Path of(Path directory, ProcessIdentity owner, long sequence) {
        return directory.resolve(PREFIX + NAMESPACE + "-" + owner.pid() + "-" + owner.startTime() + "-" + sequence);
    }

    /** Whether a file name is one of ours. */
    public static boolean isSegment(Path file) {
        return NAME.matcher(file.getFileName().toString()).matches();
    }

    /**
     * Deletes the segments of processes that no longer run, as far as they belong to this user. Does nothing where
     * processes cannot be told apart.
     *
     * @return the files deleted
     */
    public static List<Path> sweep(Path directory) throws IOException {
        List<Path> swept = new ArrayList<>();
        if (!ProcessIdentity.current().isAlive()) {
            return swept;
        }
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, PREFIX + "*")) {
            for (Path file : files) {
                if (isOrphan(file) && delete(file)) {
                    swept.add(file);
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return swept;
    }

    private static boolean isOrphan(Path file) {
        Matcher name = NAME.matcher(file.getFileName().toString());
        return name.matches()
                && name.group(1).equals(NAMESPACE)
                && !new ProcessIdentity(Long.parseLong(name.group(2)), Long.parseLong(name.group(3))).isAlive();
    }

    private static boolean delete(Path file) {
        try {
            return Files.deleteIfExists(file);
        } catch (IOException e) {
            return false; // Another user's, in a directory with the sticky bit.
        }
    }
}
