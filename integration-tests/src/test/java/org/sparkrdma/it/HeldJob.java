/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.it;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.sparkrdma.cluster.Application;
import org.sparkrdma.cluster.StandaloneCluster;
import org.sparkrdma.cluster.Submission;
import org.sparkrdma.workloads.shuffle.PausePoint;

/** A running ShuffleJob that the test holds at chosen points. */
final class HeldJob implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofMinutes(2);

    private final Submission submission;
    private final Map<String, PausePoint> points = new LinkedHashMap<>();

    private HeldJob(StandaloneCluster cluster, Application job, List<String> held) throws IOException {
        Path folder = Files.createTempDirectory(cluster.directory(), "pauses");
        for (String name : held) {
            PausePoint point = new PausePoint(folder.toString(), name);
            point.arm();
            points.put(name, point);
        }
        List<String> arguments = new ArrayList<>(job.arguments());
        arguments.addAll(List.of("--pauses", folder.toString()));
        submission = cluster.submit(job.withArguments(arguments));
    }

    /** Submits a job that will stay at the named points. */
    static HeldJob start(StandaloneCluster cluster, Application job, String... held) throws IOException {
        return new HeldJob(cluster, job, List.of(held));
    }

    /** Waits until so many tasks (or the driver) have come to a point; their process ids. */
    List<Long> awaitAt(String name, int times) throws InterruptedException {
        PausePoint point = points.get(name);
        assertTrue(
                submission.awaitWhileRunning(() -> point.reached().size() >= times, LIMIT),
                () -> name + " was reached by " + point.reached() + "\n" + submission.errors());
        return point.reached();
    }

    void release(String name) throws IOException {
        points.get(name).release();
    }

    Submission submission() {
        return submission;
    }

    JobResult finish() throws InterruptedException, TimeoutException {
        return JobResult.of(submission.awaitSuccess());
    }

    @Override
    public void close() {
        submission.close();
    }
}
