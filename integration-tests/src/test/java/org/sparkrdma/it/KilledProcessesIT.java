/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkrdma.cluster.Application;
import org.sparkrdma.cluster.ClusterJvm;
import org.sparkrdma.cluster.StandaloneCluster;
import org.sparkrdma.workloads.shuffle.ShuffleJob;
import org.sparkrdma.workloads.shuffle.ShuffleJob.Kind;

/** Processes that die or stand still in the middle of a shuffle: the answer stays right, and nothing is left behind. */
class KilledProcessesIT {
    @TempDir
    static Path temporary;

    private static StandaloneCluster cluster;

    @BeforeAll
    static void startCluster() throws Exception {
        cluster = StandaloneCluster.start(ItClusters.options(temporary.resolve("cluster")));
    }

    @AfterAll
    static void stopCluster() {
        if (cluster != null) {
            cluster.close();
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void executorKilledWhileItWrites(Kind kind) throws Exception {
        try (HeldJob job = HeldJob.start(cluster, patient(kind), ShuffleJob.WRITING)) {
            long victim = job.awaitAt(ShuffleJob.WRITING, 2).get(0);
            kill(victim);
            job.release(ShuffleJob.WRITING);
            job.finish().assertAnswer(ShuffleJobs.ROWS);
            assertNothingLeft(cluster, List.of(victim));
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void executorKilledWhileItIsRead(Kind kind) throws Exception {
        try (HeldJob job = HeldJob.start(cluster, patient(kind), ShuffleJob.READING)) {
            long victim = job.awaitAt(ShuffleJob.READING, 2).get(0);
            assertFalse(new ProcessMemory(victim).slabs().isEmpty());
            kill(victim);
            job.release(ShuffleJob.READING);
            JobResult result = job.finish().assertAnswer(ShuffleJobs.ROWS);
            assertTrue(result.get("failedTasks") > 0, result::line);
            assertNothingLeft(cluster, List.of(victim));
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void executorKilledBetweenTheStages(Kind kind) throws Exception {
        try (HeldJob job = HeldJob.start(cluster, patient(kind), ShuffleJob.BETWEEN)) {
            job.awaitAt(ShuffleJob.BETWEEN, 1);
            long victim = cluster.executors().get(0).pid();
            kill(victim);
            job.release(ShuffleJob.BETWEEN);
            JobResult result = job.finish().assertAnswer(ShuffleJobs.ROWS);
            long read = result.get("local") + result.get("shm") + result.get("netty");
            assertTrue(result.get("bytesWritten") > read, () -> "nothing was computed anew: " + result.line());
            assertNothingLeft(cluster, List.of(victim));
        }
    }

    @Test
    void stoppedExecutorIsReadFromSharedMemory() throws Exception {
        assertStandstillIsSurvived(patient(Kind.SQL));
    }

    @Test
    void stoppedExecutorIsAwaitedByNetty() throws Exception {
        assertStandstillIsSurvived(patient(Kind.SQL).withConf("spark.shuffle.rdma.paths", "netty"));
    }

    private static void assertStandstillIsSurvived(Application application) throws Exception {
        try (HeldJob job = HeldJob.start(cluster, application, ShuffleJob.READING)) {
            long victim = job.awaitAt(ShuffleJob.READING, 2).get(0);
            signal("STOP", victim);
            try {
                job.release(ShuffleJob.READING);
                TimeUnit.SECONDS.sleep(20); // The standstill itself, which is what is tested.
            } finally {
                signal("CONT", victim);
            }
            job.finish().assertAnswer(ShuffleJobs.ROWS);
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void speculativeCopiesReplaceTheTasksOfAStoppedExecutor(Kind kind) throws Exception {
        Application application = WrappedJava.hostPerExecutor(patient(kind), temporary)
                .withConf("spark.speculation", "true")
                .withConf("spark.speculation.quantile", "0.5")
                .withConf("spark.speculation.minTaskRuntime", "100ms");
        try (HeldJob job = HeldJob.start(cluster, application, ShuffleJob.WRITING, ShuffleJob.READING)) {
            long victim = job.awaitAt(ShuffleJob.WRITING, 2).get(0);
            signal("STOP", victim);
            try {
                job.release(ShuffleJob.WRITING);
                long reader = job.awaitAt(ShuffleJob.READING, 1).get(0);
                assertTrue(reader != victim, "the executor that stands still reads");
            } finally {
                // Its task goes on writing what somebody else has written meanwhile.
                signal("CONT", victim);
            }
            job.release(ShuffleJob.READING);
            job.finish().assertAnswer(ShuffleJobs.ROWS);
        }
    }

    @Test
    void allKilledAtOnce() throws Exception {
        try (StandaloneCluster doomed = StandaloneCluster.start(ItClusters.options(temporary.resolve("doomed")))) {
            Application application = patient(Kind.SQL).withConf("spark.shuffle.rdma.memory.max", "8m");
            try (HeldJob job = HeldJob.start(doomed, application, ShuffleJob.READING)) {
                job.awaitAt(ShuffleJob.READING, 2);
                List<ClusterJvm> all = doomed.jvms();
                assertEquals(2, doomed.executors().size());
                all.forEach(ClusterJvm::kill);
                assertFalse(job.submission().awaitWhileRunning(() -> false, Duration.ofSeconds(20)));
                awaitEnd(all);
                assertNothingLeft(doomed, all.stream().map(ClusterJvm::pid).toList());
                assertEquals(List.of(), doomed.jvms());
            }
        }
    }

    private static Application patient(Kind kind) {
        return ShuffleJobs.plugin(kind);
    }

    private static void kill(long pid) throws Exception {
        ClusterJvm victim = cluster.executors().stream()
                .filter(jvm -> jvm.pid() == pid)
                .findFirst()
                .orElseThrow();
        victim.kill();
        awaitEnd(List.of(victim));
    }

    private static void awaitEnd(List<ClusterJvm> killed) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (killed.stream().anyMatch(ClusterJvm::isAlive)) {
            assertTrue(System.nanoTime() - end < 0, killed::toString);
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }

    private static void signal(String name, long pid) throws Exception {
        assertEquals(
                0,
                new ProcessBuilder("kill", "-" + name, Long.toString(pid))
                        .start()
                        .waitFor());
    }

    /** No segment file of these processes has a name any more, and none lies anywhere in the cluster's folder. */
    private static void assertNothingLeft(StandaloneCluster of, List<Long> dead) throws IOException {
        for (String file : of.shmFiles()) {
            assertTrue(dead.stream().noneMatch(pid -> file.matches("spark-rdma-shuffle-\\d*-" + pid + "-.*")), file);
        }
        List<String> named;
        try (Stream<Path> tree = Files.walk(of.directory())) {
            named = tree.map(Path::toString)
                    .filter(path -> path.contains("spark-rdma-shuffle-"))
                    .toList();
        }
        assertEquals(List.of(), named);
    }
}
