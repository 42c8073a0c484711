/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A mount namespace with a {@code /dev/shm} of a chosen size. A process that does nothing holds it
 * open; others enter it through {@link #prefix}. The mount ends with the last process inside.
 */
final class PrivateShm implements AutoCloseable {
    private final Process holder;

    private PrivateShm(Process holder) {
        this.holder = holder;
    }

    /** Why there can be none on this machine, or empty when there can. */
    static Optional<String> unavailabilityCause() {
        try {
            Process probe = new ProcessBuilder("unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/dev/shm")
                    .redirectErrorStream(true)
                    .start();
            String output = new String(probe.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
            return probe.waitFor() == 0
                    ? Optional.empty()
                    : Optional.of("no private mount namespace (it takes root): " + output.strip());
        } catch (IOException e) {
            return Optional.of("no private mount namespace: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    static PrivateShm open(String size) throws IOException {
        String script = "mount -t tmpfs -o size=" + size + " tmpfs /dev/shm && echo mounted && exec sleep infinity";
        Process holder = new ProcessBuilder("unshare", "--mount", "sh", "-c", script)
                .redirectErrorStream(true)
                .start();
        String answer = holder.inputReader().readLine();
        if (!"mounted".equals(answer)) {
            holder.destroyForcibly();
            throw new IOException("cannot mount a private /dev/shm of " + size + ": " + answer);
        }
        return new PrivateShm(holder);
    }

    /** What to put before a command so that it runs inside. */
    List<String> prefix() {
        return List.of("nsenter", "--mount", "--target", Long.toString(holder.pid()), "--");
    }

    /** The directory, as seen from outside. */
    Path directory() {
        return Path.of("/proc", Long.toString(holder.pid()), "root", "dev", "shm");
    }

    @Override
    public void close() {
        holder.destroyForcibly();
        try {
            if (!holder.waitFor(10, TimeUnit.SECONDS) && Files.exists(directory())) {
                throw new IllegalStateException("process " + holder.pid() + " that holds /dev/shm does not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
