/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.api;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A process that cannot be mistaken for a later one with the same id.
 *
 * @param pid process id
 * @param startTime start in clock ticks since boot, from {@code /proc/<pid>/stat}; 0 where unknown
 */
public record ProcessIdentity(long pid, long startTime) {
    private static final int START_TIME_FIELD = 22;
    private static final int FIRST_FIELD_AFTER_NAME = 3;

    /** This process. */
    public static ProcessIdentity current() {
        long pid = ProcessHandle.current().pid();
        return new ProcessIdentity(pid, startTimeOf(pid));
    }

    /** Whether this very process still runs. */
    public boolean isAlive() {
        return startTime != 0 && startTimeOf(pid) == startTime;
    }

    /** Start of a process in clock ticks since boot; 0 if it does not run or is a zombie, or without {@code /proc}. */
    private static long startTimeOf(long pid) {
        try {
            String stat = new String(
                    Files.readAllBytes(Path.of("/proc", Long.toString(pid), "stat")), StandardCharsets.UTF_8);
            // The second field is the name in parentheses and may itself hold spaces and parentheses.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            return fields[0].equals("Z") ? 0 : Long.parseLong(fields[START_TIME_FIELD - FIRST_FIELD_AFTER_NAME]);
        } catch (IOException | RuntimeException e) {
            return 0;
        }
    }
}
