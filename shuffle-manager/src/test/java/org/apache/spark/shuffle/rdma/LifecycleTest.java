/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.sort.io.LocalDiskShuffleDataIO;
import org.junit.jupiter.api.Test;

class LifecycleTest {
    /** Another plugin that stores map outputs elsewhere. */
    public static final class OtherDataIO extends LocalDiskShuffleDataIO {
        public OtherDataIO(SparkConf conf) {
            super(conf);
        }
    }

    @Test
    void theExternalShuffleServiceLeavesThePlainSortShuffle() {
        assertIsPlain(Map.of("spark.shuffle.service.enabled", "true"), "spark.shuffle.service.enabled=true");
    }

    @Test
    void anotherPluginForMapOutputsLeavesThePlainSortShuffle() {
        assertIsPlain(Map.of(Activation.IO_PLUGIN, OtherDataIO.class.getName()), OtherDataIO.class.getName());
    }

    private static void assertIsPlain(Map<String, String> settings, String cause) {
        SparkConf conf = new SparkConf(false);
        settings.forEach(conf::set);
        assertFalse(Activation.of(conf).isActive());
        assertTrue(
                Activation.of(conf).cause().contains(cause), Activation.of(conf).cause());
        try (LocalSpark spark = LocalSpark.open(settings)) {
            assertEquals(
                    IndexShuffleBlockResolver.class,
                    spark.manager().shuffleBlockResolver().getClass());
            assertEquals(4_000, Jobs.byKryo(Jobs.pairs(spark.context()), 5).count());
            assertEquals(null, spark.manager().runtimeIfAny());
        }
    }

    @Test
    void pushIsDeclined() {
        try (LocalSpark spark = LocalSpark.open(Map.of("spark.shuffle.push.enabled", "true"))) {
            assertFalse(SparkEnv.get().conf().getBoolean("spark.shuffle.push.enabled", true));
            assertInstanceOf(RdmaShuffleBlockResolver.class, spark.manager().shuffleBlockResolver());
            assertEquals(4_000, Jobs.byKryo(Jobs.pairs(spark.context()), 5).count());
        }
    }

    @Test
    void aSharedMemoryDirectoryThatTakesNoFileIsDoneWithout() {
        try (LocalSpark spark = LocalSpark.open(Map.of("spark.shuffle.rdma.shm.dir", "/proc"))) {
            assertEquals(4_000, Jobs.byKryo(Jobs.pairs(spark.context()), 5).count());
            assertTrue(spark.manager().runtime().pool().usage().overflow() > 0);
        }
    }

    @Test
    void aMisspeltSettingIsRefusedWhenSparkStarts() {
        Throwable refusal =
                assertThrows(Throwable.class, () -> LocalSpark.open(Map.of("spark.shuffle.rdma.memroy.max", "1g"))
                        .close());
        while (refusal.getCause() != null) {
            refusal = refusal.getCause();
        }
        assertEquals(
                "spark.shuffle.rdma.memroy.max=1g is not a setting of this version: the nearest one is"
                        + " spark.shuffle.rdma.memory.max",
                refusal.getMessage());
    }

    @Test
    void afterUnregistrationTheMemoryIsFree() {
        try (LocalSpark spark = LocalSpark.open(Map.of())) {
            assertEquals(4_000, Jobs.byKryo(Jobs.pairs(spark.context()), 5).count());
            assertNotEquals(0, spark.inUse());

            spark.manager().unregisterShuffle(0);

            assertEquals(0, spark.inUse());
            assertEquals(List.of(), spark.manager().runtime().catalog().stored());
        }
    }

    @Test
    void oneSparkAfterTheOtherLeavesNoFilesOpen() throws IOException {
        for (int i = 0; i < 3; i++) {
            try (LocalSpark spark = LocalSpark.open(Map.of("spark.shuffle.rdma.memory.max", "4m"))) {
                assertEquals(4_000, Jobs.byKryo(Jobs.pairs(spark.context()), 5).count());
                assertTrue(openSegments() > 0);
                assertTrue(spark.manager().runtime().pool().usage().memory() > 0);
            }
            assertEquals(0, openSegments());
        }
    }

    @Test
    void aStoppedManagerSaysThatTheExecutorGoesAway() {
        RdmaShuffleManager manager;
        try (LocalSpark spark = LocalSpark.open(Map.of())) {
            manager = spark.manager();
        }
        manager.stop();
        assertTrue(assertThrows(IllegalStateException.class, manager::runtime)
                .getMessage()
                .contains("stopped"));
    }

    private static long openSegments() throws IOException {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors
                    .filter(descriptor -> {
                        try {
                            return Files.readSymbolicLink(descriptor).toString().contains("rdma-shuffle");
                        } catch (IOException e) {
                            return false;
                        }
                    })
                    .count();
        }
    }
}
