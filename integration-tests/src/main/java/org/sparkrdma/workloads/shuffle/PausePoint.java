/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.shuffle;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A point of a job at which another process of the machine can hold it, by files in a folder that both know:
 * {@code NAME.hold} asks for it, {@code NAME.at.PID} says that a process has come there; when the former is deleted the
 * job goes on.
 */
public final class PausePoint implements Serializable {
    private static final long serialVersionUID = 1;
    private static final Duration LIMIT = Duration.ofMinutes(3);

    private final String folder;
    private final String name;

    /** A point of this name; an empty folder makes one that nobody can hold. */
    public PausePoint(String folder, String name) {
        this.folder = folder;
        this.name = name;
    }

    /** The job's side: stays here as long as it is asked to. */
    public void pass() {
        if (folder.isEmpty() || !Files.exists(hold())) {
            return;
        }
        long end = System.nanoTime() + LIMIT.toNanos();
        try {
            Files.createFile(Path.of(
                    folder,
                    name + ".at." + ProcessHandle.current().pid() + "."
                            + Long.toString(System.nanoTime(), Character.MAX_RADIX)));
            while (Files.exists(hold())) {
                if (System.nanoTime() - end > 0) {
                    throw new IllegalStateException("nobody went on from " + name + " within " + LIMIT);
                }
                TimeUnit.MILLISECONDS.sleep(20);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted at " + name, e);
        }
    }

    /** The other side: asks the job to stay here. */
    public void arm() throws IOException {
        Files.createFile(hold());
    }

    /** The other side: the processes that have come here, one entry for each time. */
    public List<Long> reached() {
        List<Long> pids = new ArrayList<>();
        try (Stream<Path> files = Files.list(Path.of(folder))) {
            files.map(file -> file.getFileName().toString())
                    .filter(file -> file.startsWith(name + ".at."))
                    .forEach(file -> pids.add(Long.parseLong(file.split("\\.", -1)[2])));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return pids;
    }

    /** The other side: lets the job go on. */
    public void release() throws IOException {
        Files.delete(hold());
    }

    private Path hold() {
        return Path.of(folder, name + ".hold");
    }
}
