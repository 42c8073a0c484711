/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RdmaShuffleConfTest {
    private static final MemoryBudget BUDGET = new MemoryBudget(16L << 30, 4L << 30, OptionalLong.empty());

    @Test
    void defaults() {
        RdmaShuffleConf conf = read(new SparkConf(false));
        assertEquals(BUDGET.bytes(), conf.memoryMax());
        assertEquals(64L << 20, conf.slabSize());
        assertEquals(1, conf.slabAhead());
        assertEquals(Duration.ofSeconds(30), conf.slabIdle());
        assertEquals(Path.of("/dev/shm"), conf.shmDir());
        assertEquals(List.of(), conf.overflowDirs());
        assertEquals(64L << 20, conf.overflowSlabSize());
        assertEquals(List.of(PathName.SHM, PathName.NETTY), conf.paths());
        assertEquals(Duration.ofSeconds(30), conf.pathRetry());
        assertEquals(Duration.ofSeconds(10), conf.bootstrapTimeout());
        assertTrue(conf.checksumVerify());
        assertTrue(conf.directWrite());
        assertEquals(2000, conf.directWriteMaxPartitions());
        assertTrue(conf.directRead());
        assertEquals(CompressMode.AUTO, conf.compress());
        assertEquals(Duration.ofSeconds(1), conf.quarantine());
        assertEquals(Duration.ofSeconds(1), conf.reportInterval());
        assertFalse(conf.leakDetection());
        assertEquals(18, RdmaShuffleConf.keys().size(), "a new key needs a line in this test");
    }

    @Test
    void explicitValues() {
        RdmaShuffleConf conf = read(new SparkConf(false)
                .set("spark.shuffle.rdma.memory.max", "3g")
                .set("spark.shuffle.rdma.slab.size", " 256M ")
                .set("spark.shuffle.rdma.slab.ahead", "16")
                .set("spark.shuffle.rdma.shm.dir", "/mnt/tmpfs/")
                .set("spark.shuffle.rdma.overflow.dirs", "/data1, /data2/x")
                .set("spark.shuffle.rdma.overflow.slab.size", "1048576")
                .set("spark.shuffle.rdma.paths", "netty")
                .set("spark.shuffle.rdma.path.retry", "1h")
                .set("spark.shuffle.rdma.bootstrap.timeout", "100")
                .set("spark.shuffle.rdma.checksum.verify", "false")
                .set("spark.shuffle.rdma.direct.write", "false")
                .set("spark.shuffle.rdma.direct.write.max.partitions", "100")
                .set("spark.shuffle.rdma.direct.read", "false")
                .set("spark.shuffle.rdma.compress", "never")
                .set("spark.shuffle.rdma.quarantine", "0")
                .set("spark.shuffle.rdma.slab.idle", "2min")
                .set("spark.shuffle.rdma.report.interval", "1min")
                .set("spark.shuffle.rdma.leak.detection", "true"));
        assertEquals(3L << 30, conf.memoryMax());
        assertEquals(256L << 20, conf.slabSize());
        assertEquals(16, conf.slabAhead());
        assertEquals(Duration.ofMinutes(2), conf.slabIdle());
        assertEquals(Path.of("/mnt/tmpfs"), conf.shmDir());
        assertEquals(List.of(Path.of("/data1"), Path.of("/data2/x")), conf.overflowDirs());
        assertEquals(1L << 20, conf.overflowSlabSize());
        assertEquals(List.of(PathName.NETTY), conf.paths());
        assertEquals(Duration.ofHours(1), conf.pathRetry());
        assertEquals(Duration.ofMillis(100), conf.bootstrapTimeout());
        assertFalse(conf.checksumVerify());
        assertFalse(conf.directWrite());
        assertEquals(100, conf.directWriteMaxPartitions());
        assertFalse(conf.directRead());
        assertEquals(CompressMode.NEVER, conf.compress());
        assertEquals(Duration.ZERO, conf.quarantine());
        assertEquals(Duration.ofMinutes(1), conf.reportInterval());
        assertTrue(conf.leakDetection());
    }

    @Test
    void laterChangesHaveNoEffect() {
        SparkConf spark = new SparkConf(false);
        RdmaShuffleConf conf = read(spark);
        spark.set("spark.shuffle.rdma.slab.size", "1m");
        assertEquals(64L << 20, conf.slabSize());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "memory.max | 1k | is below its least value 1m: set it to auto or to at least 1m",
                "memory.max | much | is not a size: set it to auto or to at least 1m, such as 512m or 2g",
                "slab.size | 3 | is below its least value 1m: set it between 1m and 1g",
                "slab.size | 2g | is above its greatest value 1g: set it between 1m and 1g",
                "slab.size | 3m | is not a power of two: set it to one between 1m and 1g",
                "slab.size | big | is not a size: set it to a power of two between 1m and 1g, such as 64m",
                "slab.size | -64m | is not a size: set it to a power of two between 1m and 1g, such as 64m",
                "slab.size | 1.5m | is not a size: set it to a power of two between 1m and 1g, such as 64m",
                "overflow.slab.size | 96m | is not a power of two: set it to one between 1m and 1g",
                "slab.ahead | 17 | is above its greatest value 16: set it between 0 and 16",
                "slab.ahead | -1 | is below its least value 0: set it between 0 and 16",
                "slab.ahead | 1.5 | is not a whole number: set it between 0 and 16",
                "slab.ahead | 4294967297 | is above its greatest value 16: set it between 0 and 16",
                "shm.dir | shm | is not absolute in shm: give the full path of a directory, such as /dev/shm",
                "overflow.dirs | /a,b | is not absolute in b: give the full path of a directory, such as"
                        + " /data1/overflow",
                "overflow.dirs | /a, | is not absolute in an empty part: give the full path of a directory, such as"
                        + " /data1/overflow",
                "paths | shm,tcp,netty | names the unknown path 'tcp': choose among shm, netty",
                "paths | shm,shm,netty | names shm twice: name each path once",
                "paths | netty,shm | does not end with netty, the fallback that never fails where Spark's own transfer"
                        + " would not: put netty last",
                "paths | shm | does not end with netty, the fallback that never fails where Spark's own transfer"
                        + " would not: put netty last",
                "path.retry | 999ms | is below its least value 1s: set it between 1s and 1h",
                "path.retry | 2h | is above its greatest value 1h: set it between 1s and 1h",
                "path.retry | soon | is not a time: set it between 1s and 1h, such as 30s or 2min",
                "bootstrap.timeout | 99 | is below its least value 100ms: set it between 100ms and 5min",
                "quarantine | -1s | is below its least value 0ms: set it between 0ms and 10min",
                "slab.idle | 2d | is above its greatest value 1d: set it between 1s and 1d",
                "report.interval | 61s | is above its greatest value 1min: set it between 100ms and 1min",
                "checksum.verify | yes | is neither true nor false: set it to true or false",
                "compress | sometimes | is not one of auto, always, never: set it to one of them",
                "direct.write.max.partitions | 0 | is below its least value 1: set it between 1 and 1048576",
                "leak.detection | 1 | is neither true nor false: set it to true or false",
            },
            quoteCharacter = '"')
    void badValuesAreRefused(String key, String value, String sentence) {
        assertRefused("spark.shuffle.rdma." + key, value, sentence);
    }

    @ParameterizedTest
    @CsvSource({"shm.dir", "slab.size", "memory.max", "paths", "checksum.verify", "path.retry", "slab.ahead"})
    void nothingIsNotAValue(String key) {
        SparkConf conf = new SparkConf(false).set("spark.shuffle.rdma." + key, "");
        assertThrows(IllegalArgumentException.class, () -> read(conf));
    }

    @Test
    void charactersThatNoPathMayHoldAreRefused() {
        assertRefused(
                "spark.shuffle.rdma.shm.dir",
                "/dev/\0shm",
                "holds what no path may hold (Nul character not allowed): give the full path of a directory, such as"
                        + " /dev/shm");
    }

    @ParameterizedTest
    @CsvSource({
        "slab.sise, slab.size",
        "memoryMax, memory.max",
        "memory.maximum, memory.max",
        "checksums.verify, checksum.verify",
        "overflow.dir, overflow.dirs",
    })
    void unknownKeysAreRefused(String unknown, String nearest) {
        assertRefused(
                "spark.shuffle.rdma." + unknown,
                "5",
                "is not a setting of this version: the nearest one is spark.shuffle.rdma." + nearest);
    }

    @Test
    void keysOfOthersAreLeftAlone() {
        read(new SparkConf(false).set("spark.shuffle.rdmax.slab", "1").set("spark.shuffle.compress", "false"));
    }

    @Test
    void keysAreDeclaredWell() {
        assertEquals(
                RdmaShuffleConf.keys().size(),
                new HashSet<>(RdmaShuffleConf.keys().stream()
                                .map(ConfigKey::name)
                                .toList())
                        .size());
        for (ConfigKey<?> key : RdmaShuffleConf.keys()) {
            assertTrue(key.name().startsWith(RdmaShuffleConf.PREFIX), key.name());
            assertTrue(key.documentation().endsWith("."), key.name());
            assertFalse(key.bounds().isEmpty(), key.name());
            assertEquals("0.1.0", key.since());
            key.read(new SparkConf(false));
        }
    }

    private static RdmaShuffleConf read(SparkConf conf) {
        return new RdmaShuffleConf(conf, BUDGET);
    }

    private static void assertRefused(String key, String value, String sentence) {
        SparkConf conf = new SparkConf(false).set(key, value);
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, () -> read(conf));
        assertEquals(key + "=" + value + " " + sentence, refused.getMessage());
    }
}
