/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/**
 * An application that was submitted: running, or ended. Closing it kills its driver when it still runs.
 *
 * <p>Threading: {@link #send}, {@link #endInput} and {@link #nextLine} belong to one thread; the rest is safe
 * from several.
 */
public final class Submission implements AutoCloseable {
    private final Application application;
    private final Process process;
    private final Path stdout;
    private final Path stderr;
    private final long deadline;
    private final Writer input;
    private final LineTail lines;

    Submission(Application application, Process process, Path stdout, Path stderr) {
        this.application = application;
        this.process = process;
        this.stdout = stdout;
        this.stderr = stderr;
        this.deadline = System.nanoTime() + application.limit().toNanos();
        this.input = process.outputWriter(StandardCharsets.UTF_8);
        this.lines = new LineTail(stdout);
    }

    /** The driver's process id; spark-submit's scripts exec, so it is the JVM's. */
    public long pid() {
        return process.pid();
    }

    public boolean isRunning() {
        return process.isAlive();
    }

    /** Writes a line to its stdin. */
    public void send(String line) throws IOException {
        input.write(line + "\n");
        input.flush();
    }

    /** Ends its stdin. */
    public void endInput() throws IOException {
        input.close();
    }

    /**
     * The next whole line of its stdout that this method has not returned yet, for which it waits.
     *
     * @throws TimeoutException when there is none within the limit
     * @throws IllegalStateException when it ended instead
     */
    public String nextLine(Duration limit) throws IOException, InterruptedException, TimeoutException {
        long end = System.nanoTime() + limit.toNanos();
        while (true) {
            boolean ended = !process.isAlive();
            Optional<String> line = lines.next();
            if (line.isPresent()) {
                return line.get();
            }
            if (ended) {
                throw new IllegalStateException(application.mainClass() + " ended with code " + process.exitValue()
                        + "\n" + tail(errors(), 60));
            }
            if (System.nanoTime() - end > 0) {
                throw new TimeoutException(application.mainClass() + " wrote nothing to stdout within " + limit + "\n"
                        + tail(errors(), 40));
            }
            process.waitFor(20, TimeUnit.MILLISECONDS);
        }
    }

    /**
     * Waits for the end and returns the exit code.
     *
     * @throws TimeoutException after the application's limit; the driver is killed by then
     */
    public int await() throws InterruptedException, TimeoutException {
        return await(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
    }

    /** The same with a limit that starts now, whatever is left of the application's own. */
    public int await(Duration limit) throws InterruptedException, TimeoutException {
        if (!process.waitFor(limit.toNanos(), TimeUnit.NANOSECONDS)) {
            close();
            throw new TimeoutException(application.mainClass() + " did not end within its limit, of which " + limit
                    + " were left\n" + tail(errors(), 40));
        }
        return process.exitValue();
    }

    /** Waits for the end; anything but exit code 0 is an error that shows the last lines of stderr. */
    public Submission awaitSuccess() throws InterruptedException, TimeoutException {
        return success(await());
    }

    /** The same with a limit that starts now, whatever is left of the application's own. */
    public Submission awaitSuccess(Duration limit) throws InterruptedException, TimeoutException {
        return success(await(limit));
    }

    private Submission success(int code) {
        if (code != 0) {
            throw new IllegalStateException(
                    application.mainClass() + " ended with code " + code + "\n" + tail(errors(), 60));
        }
        return this;
    }

    /** Waits until a condition holds, looking every 20 ms; false when the application ended or the time is up first. */
    public boolean awaitWhileRunning(BooleanSupplier condition, Duration limit) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0 || process.waitFor(20, TimeUnit.MILLISECONDS)) {
                return condition.getAsBoolean();
            }
        }
        return true;
    }

    /** What it wrote to stdout so far. */
    public String output() {
        return read(stdout);
    }

    /** What it wrote to stderr so far: Spark's log among it. */
    public String errors() {
        return read(stderr);
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static String read(Path file) {
        try {
            return Files.exists(file) ? Files.readString(file, StandardCharsets.UTF_8) : "";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static String tail(String text, int lines) {
        String[] all = text.split("\n", -1);
        return String.join("\n", java.util.Arrays.asList(all).subList(Math.max(0, all.length - lines), all.length));
    }
}
