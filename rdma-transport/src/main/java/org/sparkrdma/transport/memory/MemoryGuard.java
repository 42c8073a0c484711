/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Says whether the machine can give so much more memory without being driven out of it. */
@FunctionalInterface
public interface MemoryGuard {
    /** Grants everything. */
    MemoryGuard NONE = bytes -> true;

    /** Whether {@code bytes} more may be taken. */
    boolean allows(long bytes);

    /** Keeps a twentieth of the machine's memory available, by {@code /proc/meminfo}; grants all where there is none. */
    static MemoryGuard ofMachine() {
        return bytes -> {
            long total = 0;
            long available = Long.MAX_VALUE;
            try {
                for (String line : Files.readAllLines(Path.of("/proc/meminfo"))) {
                    String[] words = line.split("\\s+", -1);
                    if (words[0].equals("MemTotal:")) {
                        total = Long.parseLong(words[1]) * 1024;
                    } else if (words[0].equals("MemAvailable:")) {
                        available = Long.parseLong(words[1]) * 1024;
                    }
                }
            } catch (IOException | RuntimeException e) {
                return true;
            }
            return available - bytes >= total / 20;
        };
    }
}
