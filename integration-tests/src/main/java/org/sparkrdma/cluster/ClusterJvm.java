/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A process of a cluster, found in {@code /proc} by the mark that the cluster puts in the
 * environment of everything it starts; executors inherit it from their Worker.
 *
 * @param pid its process id
 * @param kind what it is
 * @param command its command line
 */
public record ClusterJvm(long pid, Kind kind, List<String> command) {
    static final String MARK = "SPARK_RDMA_CLUSTER";

    /** What a process does. */
    public enum Kind {
        MASTER("org.apache.spark.deploy.master.Master"),
        WORKER("org.apache.spark.deploy.worker.Worker"),
        EXECUTOR("org.apache.spark.executor.CoarseGrainedExecutorBackend"),
        DRIVER("org.apache.spark.deploy.SparkSubmit"),
        OTHER("");

        private final String mainClass;

        Kind(String mainClass) {
            this.mainClass = mainClass;
        }

        String mainClass() {
            return mainClass;
        }

        private static Kind of(List<String> command) {
            for (Kind kind : values()) {
                if (command.contains(kind.mainClass)) {
                    return kind;
                }
            }
            return OTHER;
        }
    }

    /** The value after an option of the command line, such as {@code --executor-id} or {@code --app-id}. */
    public Optional<String> option(String name) {
        int at = command.indexOf(name);
        return at >= 0 && at + 1 < command.size() ? Optional.of(command.get(at + 1)) : Optional.empty();
    }

    /** Kills it as the kernel's out-of-memory killer would: SIGKILL, nothing of it runs any more. */
    public void kill() {
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
    }

    /** Asks it to end: SIGTERM, shutdown hooks run. */
    public void terminate() {
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroy);
    }

    /** Whether it still runs; a process that ended and that nobody waited for does not. */
    public boolean isAlive() {
        return strings(Path.of("/proc", Long.toString(pid), "cmdline")).equals(command);
    }

    @Override
    public String toString() {
        return kind + " " + pid
                + option("--executor-id").map(id -> " executor " + id).orElse("");
    }

    /** All living processes of the cluster with this mark, by process id. */
    static List<ClusterJvm> find(String clusterId) {
        String mark = MARK + "=" + clusterId;
        List<ClusterJvm> found = new ArrayList<>();
        try (Stream<Path> processes = Files.list(Path.of("/proc"))) {
            for (Path process : (Iterable<Path>) processes::iterator) {
                String name = process.getFileName().toString();
                if (!name.chars().allMatch(Character::isDigit)
                        || !strings(process.resolve("environ")).contains(mark)) {
                    continue;
                }
                List<String> command = strings(process.resolve("cmdline"));
                if (!command.isEmpty()) { // a zombie has none
                    found.add(new ClusterJvm(Long.parseLong(name), Kind.of(command), command));
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException("cannot list /proc", e);
        }
        found.sort(Comparator.comparingLong(ClusterJvm::pid));
        return found;
    }

    private static List<String> strings(Path file) {
        try {
            String all = Files.readString(file, StandardCharsets.ISO_8859_1);
            return all.isEmpty() ? List.of() : List.of(all.split("\0", -1));
        } catch (IOException e) {
            return List.of(); // it ended meanwhile, or belongs to somebody else
        }
    }
}
