/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.tools;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine;

/** What the command line programs have in common. */
final class Tool {
    private Tool() {}

    /** Runs a program and ends the JVM with its code: 0 for success, 1 for a failure, 2 for bad arguments. */
    static void run(Callable<Integer> program, String[] args) {
        CommandLine line = new CommandLine(program);
        line.setExecutionExceptionHandler((failure, command, parsed) -> {
            if (failure instanceof IllegalArgumentException) {
                System.err.println("error: " + failure.getMessage());
                return 2;
            }
            failure.printStackTrace();
            return 1;
        });
        System.exit(line.execute(args));
    }

    static void write(Path file, String text) throws IOException {
        Path parent = file.toAbsolutePath().getParent();
        Files.createDirectories(parent);
        Files.writeString(file, text + "\n");
    }
}
