/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.sparkrdma.transport.api.ProcessIdentity;

/**
 * Names of segment files: {@code spark-rdma-shuffle-<pid>-<start time>-<sequence>}. Where files can be anonymous the
 * name lives for the microseconds between creation and unlinking; where they cannot it stays, and the next start of any
 * executor on the host sweeps what dead processes left.
 */
public final class SegmentNames {
    private static final String PREFIX = "spark-rdma-shuffle-";
    private static final Pattern NAME = Pattern.compile(PREFIX + "(\\d+)-(\\d+)-(\\d+)");

    private SegmentNames() {}

    /** Where a process's segment lies. */
    public static Path of(Path directory, ProcessIdentity owner, long sequence) {
        return directory.resolve(PREFIX + owner.pid() + "-" + owner.startTime() + "-" + sequence);
    }

    /** Whether a file name is one of ours. */
    public static boolean isSegment(Path file) {
        return NAME.matcher(file.getFileName().toString()).matches();
    }

    /**
     * Deletes the segments of processes that no longer run.
     *
     * @return the files deleted
     */
    public static List<Path> sweep(Path directory) throws IOException {
        List<Path> swept = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, PREFIX + "*")) {
            for (Path file : files) {
                Matcher name = NAME.matcher(file.getFileName().toString());
                if (name.matches()
                        && !new ProcessIdentity(Long.parseLong(name.group(1)), Long.parseLong(name.group(2))).isAlive()
                        && Files.deleteIfExists(file)) {
                    swept.add(file);
                }
            }
        }
        return swept;
    }
}
