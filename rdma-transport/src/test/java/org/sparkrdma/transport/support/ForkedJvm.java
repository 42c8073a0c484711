/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.support;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A JVM with this one's class path and opened packages that talks to its test in lines. */
public final class ForkedJvm implements AutoCloseable {
    private final Process process;
    private final BufferedReader out;
    private final BufferedWriter in;

    private ForkedJvm(Process process) {
        this.process = process;
        this.out = process.inputReader(StandardCharsets.UTF_8);
        this.in = process.outputWriter(StandardCharsets.UTF_8);
    }

    /** Starts a main class; {@code opens} is whether it gets the --add-opens that Spark gives. */
    public static ForkedJvm start(Class<?> main, boolean opens, String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
        command.addAll(List.of("-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"));
        if (opens) {
            ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                    .filter(argument -> argument.startsWith("--add-opens"))
                    .forEach(command::add);
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        return new ForkedJvm(new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    /** Sends a line and answers the next one that the process prints. */
    public String ask(String line) throws IOException {
        in.write(line);
        in.newLine();
        in.flush();
        return readLine();
    }

    /** The next line that the process prints. */
    public String readLine() throws IOException {
        String line = out.readLine();
        if (line == null) {
            throw new IOException("the forked JVM ended");
        }
        return line;
    }

    /** Process id. */
    public long pid() {
        return process.pid();
    }

    /** kill -9, and waits until it is gone. */
    public void kill() {
        process.destroyForcibly().onExit().orTimeout(30, TimeUnit.SECONDS).join();
    }

    @Override
    public void close() {
        kill();
    }
}
