/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.cluster;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Optional;

/** The whole lines of a file that another process is writing, each once. */
final class LineTail {
    private final Path file;
    private final ArrayDeque<String> lines = new ArrayDeque<>();
    private final StringBuilder partial = new StringBuilder();
    private long offset;

    LineTail(Path file) {
        this.file = file;
    }

    Optional<String> next() throws IOException {
        if (lines.isEmpty()) {
            read();
        }
        return Optional.ofNullable(lines.poll());
    }

    private void read() throws IOException {
        byte[] more;
        try (RandomAccessFile in = new RandomAccessFile(file.toFile(), "r")) {
            more = new byte[Math.toIntExact(in.length() - offset)];
            in.seek(offset);
            in.readFully(more);
        }
        offset += more.length;
        partial.append(new String(more, StandardCharsets.UTF_8));
        int end = partial.lastIndexOf("\n");
        if (end >= 0) {
            partial.substring(0, end).lines().forEach(lines::add);
            partial.delete(0, end + 1);
        }
    }
}
