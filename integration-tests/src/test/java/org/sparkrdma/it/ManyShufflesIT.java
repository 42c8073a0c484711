/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
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

/** What an executor takes does not grow with the number of shuffles, and is bounded by what is shuffled. */
class ManyShufflesIT {
    private static final int SHUFFLES = 200;
    private static final long ROWS = 2_000;

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

    private record Footprint(int descriptors, long mappings, long slabBytes) {
        static Footprint of(List<Long> pids) throws Exception {
            int descriptors = 0;
            long mappings = 0;
            long slabBytes = 0;
            for (long pid : pids) {
                ProcessMemory memory = new ProcessMemory(pid);
                descriptors += memory.descriptorCount();
                mappings += memory.segmentMappings();
                slabBytes += memory.slabBytes();
            }
            return new Footprint(descriptors, mappings, slabBytes);
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void manySmallShufflesUnderSpeculation(Kind kind) throws Exception {
        Application small =
                ShuffleJobs.plugin(kind, "--rows", Long.toString(ROWS), "--shuffles", Integer.toString(SHUFFLES));
        Application application = WrappedJava.hostPerExecutor(small, temporary)
                .withConf("spark.shuffle.rdma.quarantine", "200ms")
                .withConf("spark.speculation", "true")
                .withConf("spark.speculation.interval", "50ms")
                .withConf("spark.speculation.multiplier", "1.1")
                .withConf("spark.speculation.quantile", "0.5")
                .withConf("spark.speculation.minTaskRuntime", "10ms")
                .withLimit(Duration.ofMinutes(10));
        try (HeldJob job = HeldJob.start(cluster, application, "round-100", ShuffleJob.DONE)) {
            job.awaitAt("round-100", 1);
            List<Long> pids = cluster.executors().stream().map(ClusterJvm::pid).toList();
            assertEquals(2, pids.size());
            Footprint early = Footprint.of(pids);
            job.release("round-100");
            job.awaitAt(ShuffleJob.DONE, 1);
            Footprint late = Footprint.of(pids);
            job.release(ShuffleJob.DONE);
            JobResult result = job.finish().assertAnswer(ROWS, SHUFFLES);
            String both = kind + ": " + early + ", then " + late + " " + result.line();
            System.out.println(both);
            assertTrue(late.descriptors() <= early.descriptors() + 10, both);
            assertTrue(late.mappings() <= early.mappings() + 4, both);
            assertTrue(late.slabBytes() <= early.slabBytes() + (16L << 20), both);
        }
    }

    @Test
    void memoryOfAnExecutorIsBoundedByWhatIsShuffled() throws Exception {
        String[] arguments = {"--rows", "150000", "--width", "1000"};
        long builtin = peak(ShuffleJobs.builtin(Kind.SQL, arguments));
        long plugin = peak(ShuffleJobs.plugin(Kind.SQL, arguments)
                .withConf("spark.shuffle.rdma.slab.size", "64m")
                .withConf("spark.shuffle.rdma.memory.max", "512m"));
        long shuffled = 150_000L * 1_040;
        String all = "peak RSS of an executor: built-in " + builtin + ", plugin " + plugin + "; map output " + shuffled;
        System.out.println(all);
        assertTrue(plugin <= builtin + shuffled + (128L << 20), all);
    }

    /** The larger of two executors' peaks; their heaps are touched at start, so that they take the same. */
    private static long peak(Application application) throws Exception {
        Application even = application.withConf("spark.executor.extraJavaOptions", "-Xms512m -XX:+AlwaysPreTouch");
        try (HeldJob job = HeldJob.start(cluster, even, ShuffleJob.DONE)) {
            job.awaitAt(ShuffleJob.DONE, 1);
            long peak = 0;
            for (ClusterJvm executor : cluster.executors()) {
                peak = Math.max(peak, new ProcessMemory(executor.pid()).statusBytes("VmHWM"));
            }
            job.release(ShuffleJob.DONE);
            job.finish().assertAnswer(150_000);
            return peak;
        }
    }
}
