/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import org.apache.spark.SparkConf;
import scala.Tuple2;

/**
 * The settings of the shuffle, read and checked once. Immutable: what Spark's configuration says later has no effect.
 *
 * <p>Every key is declared here and nowhere else; {@code docs/configuration.md} is generated from {@link #keys()}.
 */
public final class RdmaShuffleConf {
    /** What all keys start with; a key that does and is not declared here is refused. */
    public static final String PREFIX = "spark.shuffle.rdma.";

    private static final String SINCE = "0.1.0";

    private static final ConfigKey<OptionalLong> MEMORY_MAX = key(
            "memory.max",
            ValueTypes.sizeOrAuto("1m"),
            ValueTypes.AUTO,
            "Most shared memory that the slabs of one executor may take. What does not fit goes to overflow files on"
                    + " local disk; with less than one slab (`spark.shuffle.rdma.slab.size`) everything does."
                    + " `auto` is the larger of 64m and the smaller of an eighth of the memory that the JVM sees and"
                    + " half of what the heap and Spark's off-heap memory leave of it; on YARN also at most half of"
                    + " the executor's memory overhead. `auto` assumes one executor per host or container: set a size"
                    + " where several executors share a host's memory.");

    private static final ConfigKey<Long> SLAB_SIZE = key(
            "slab.size",
            ValueTypes.powerOfTwoSize("1m", "1g"),
            "64m",
            "Size of one slab: the unit in which shared memory is taken, mapped, touched and given back.");

    private static final ConfigKey<Integer> SLAB_AHEAD = key(
            "slab.ahead",
            ValueTypes.count(0, 16),
            "1",
            "Slabs that a background thread takes and touches ahead of need, so that writing tasks do not pay for the"
                    + " first touch of new memory.");

    private static final ConfigKey<Duration> SLAB_IDLE = key(
            "slab.idle",
            ValueTypes.time("1s", "1d"),
            "30s",
            "How long a slab of which nothing is in use is kept before its memory goes back to the machine; one slab"
                    + " more than `spark.shuffle.rdma.slab.ahead` stays.");

    private static final ConfigKey<Path> SHM_DIR = key(
            "shm.dir",
            ValueTypes.directory("/dev/shm"),
            "/dev/shm",
            "Directory of a tmpfs in which slabs lie. Mounted with `huge=always`, it makes new slabs at half the"
                    + " cost.");

    private static final ConfigKey<List<Path>> OVERFLOW_DIRS = key(
            "overflow.dirs",
            ValueTypes.directories("/data1/overflow"),
            "",
            "Directories on local disks for map outputs that do not fit into `spark.shuffle.rdma.memory.max`. Empty"
                    + " means Spark's own local directories.");

    private static final ConfigKey<Long> OVERFLOW_SLAB_SIZE = key(
            "overflow.slab.size",
            ValueTypes.powerOfTwoSize("1m", "1g"),
            "64m",
            "Size of one overflow file; as `spark.shuffle.rdma.slab.size`, on disk.");

    private static final ConfigKey<List<PathName>> PATHS = key(
            "paths",
            ValueTypes.paths(),
            "shm,netty",
            "Paths by which blocks may be read from other executors, the preferred one first. `shm` maps the slabs of"
                    + " executors on the same host; `netty` is Spark's own transfer. `netty` stays last: it is the"
                    + " fallback that never fails where Spark's own transfer would not.");

    private static final ConfigKey<Duration> PATH_RETRY = key(
            "path.retry",
            ValueTypes.time("1s", "1h"),
            "30s",
            "How long a path to a peer that failed stays unused before it is probed again.");

    private static final ConfigKey<Duration> BOOTSTRAP_TIMEOUT = key(
            "bootstrap.timeout",
            ValueTypes.time("100ms", "5min"),
            "10s",
            "Longest wait for a peer's answer to the bootstrap; after it the peer is read by `netty` until"
                    + " `spark.shuffle.rdma.path.retry` has passed.");

    private static final ConfigKey<Boolean> CHECKSUM_VERIFY = key(
            "checksum.verify",
            ValueTypes.flag(),
            "true",
            "Verify the CRC32C of each block before it is handed on. Checksums are written either way.");

    private static final ConfigKey<Boolean> DIRECT_WRITE = key(
            "direct.write",
            ValueTypes.flag(),
            "true",
            "Write records once, straight into slabs, where the serializer allows records in any order (all of SQL)"
                    + " and there is no map-side combine. Off, and elsewhere, Spark's own writers are used; their"
                    + " output lies in slabs too.");

    private static final ConfigKey<Integer> DIRECT_WRITE_MAX_PARTITIONS = key(
            "direct.write.max.partitions",
            ValueTypes.count(1, 1 << 20),
            "2000",
            "Most reduce partitions that each have a chunk of their own in the slabs while a task writes. With more,"
                    + " direct writing gathers records in task memory first, so that no memory is lost in chunks that"
                    + " stay mostly empty, and lays them out by partition when there are no more or when Spark wants"
                    + " the memory back.");

    private static final ConfigKey<Boolean> DIRECT_READ = key(
            "direct.read",
            ValueTypes.flag(),
            "true",
            "Read SQL's rows where they lie, in mapped memory, when they are neither compressed nor encrypted.");

    private static final ConfigKey<CompressMode> COMPRESS = key(
            "compress",
            ValueTypes.choice(CompressMode.class),
            "auto",
            "When directly written map outputs are compressed, if `spark.shuffle.compress` is on. `auto`: raw while at"
                    + " most half of `spark.shuffle.rdma.memory.max` is in use, and compressed on the way out by"
                    + " Netty. `always`: compressed as they are written, which leaves direct writing and reading no"
                    + " work. `never`: raw, by Netty too.");

    private static final ConfigKey<Duration> QUARANTINE = key(
            "quarantine",
            ValueTypes.time("0ms", "10min"),
            "1s",
            "How long freed memory rests before it is used again, for the sake of readers that are still at it.");

    private static final ConfigKey<Duration> REPORT_INTERVAL = key(
            "report.interval",
            ValueTypes.time("100ms", "1min"),
            "1s",
            "How often an executor reports the bytes it has read, by path, to the driver.");

    private static final ConfigKey<Boolean> LEAK_DETECTION = key(
            "leak.detection",
            ValueTypes.flag(),
            "false",
            "Remember where every lent buffer was taken, and name those places when buffers are not returned. Costs a"
                    + " stack trace per buffer: for tests and hunts.");

    private static final List<ConfigKey<?>> KEYS = List.of(
            MEMORY_MAX,
            SLAB_SIZE,
            SLAB_AHEAD,
            SLAB_IDLE,
            SHM_DIR,
            OVERFLOW_DIRS,
            OVERFLOW_SLAB_SIZE,
            PATHS,
            PATH_RETRY,
            BOOTSTRAP_TIMEOUT,
            CHECKSUM_VERIFY,
            DIRECT_WRITE,
            DIRECT_WRITE_MAX_PARTITIONS,
            DIRECT_READ,
            COMPRESS,
            QUARANTINE,
            REPORT_INTERVAL,
            LEAK_DETECTION);

    private final long memoryMax;
    private final long slabSize;
    private final int slabAhead;
    private final Duration slabIdle;
    private final Path shmDir;
    private final List<Path> overflowDirs;
    private final long overflowSlabSize;
    private final List<PathName> paths;
    private final Duration pathRetry;
    private final Duration bootstrapTimeout;
    private final boolean checksumVerify;
    private final boolean directWrite;
    private final int directWriteMaxPartitions;
    private final boolean directRead;
    private final CompressMode compress;
    private final Duration quarantine;
    private final Duration reportInterval;
    private final boolean leakDetection;

    /**
     * Reads all settings.
     *
     * @throws IllegalArgumentException if a value is malformed or out of bounds, or a key under {@link #PREFIX} is
     *     unknown; the message says which and what to do
     */
    public RdmaShuffleConf(SparkConf conf) {
        this(conf, MemoryBudget.ofThisJvm(conf));
    }

    RdmaShuffleConf(SparkConf conf, MemoryBudget auto) {
        refuseUnknownKeys(conf);
        memoryMax = MEMORY_MAX.read(conf).orElseGet(auto::bytes);
        slabSize = SLAB_SIZE.read(conf);
        slabAhead = SLAB_AHEAD.read(conf);
        slabIdle = SLAB_IDLE.read(conf);
        shmDir = SHM_DIR.read(conf);
        overflowDirs = OVERFLOW_DIRS.read(conf);
        overflowSlabSize = OVERFLOW_SLAB_SIZE.read(conf);
        paths = PATHS.read(conf);
        pathRetry = PATH_RETRY.read(conf);
        bootstrapTimeout = BOOTSTRAP_TIMEOUT.read(conf);
        checksumVerify = CHECKSUM_VERIFY.read(conf);
        directWrite = DIRECT_WRITE.read(conf);
        directWriteMaxPartitions = DIRECT_WRITE_MAX_PARTITIONS.read(conf);
        directRead = DIRECT_READ.read(conf);
        compress = COMPRESS.read(conf);
        quarantine = QUARANTINE.read(conf);
        reportInterval = REPORT_INTERVAL.read(conf);
        leakDetection = LEAK_DETECTION.read(conf);
    }

    /** Every key, in the order of the documentation. */
    public static List<ConfigKey<?>> keys() {
        return KEYS;
    }

    /** Most bytes of shared memory for the slabs of this executor; {@code auto} is already worked out. */
    public long memoryMax() {
        return memoryMax;
    }

    /** Bytes of one slab, a power of two. */
    public long slabSize() {
        return slabSize;
    }

    /** Slabs touched ahead of need. */
    public int slabAhead() {
        return slabAhead;
    }

    /** How long a slab of which nothing is in use is kept. */
    public Duration slabIdle() {
        return slabIdle;
    }

    /** The tmpfs directory of the slabs. */
    public Path shmDir() {
        return shmDir;
    }

    /** Directories for overflow files; empty means Spark's local directories. */
    public List<Path> overflowDirs() {
        return overflowDirs;
    }

    /** Bytes of one overflow file, a power of two. */
    public long overflowSlabSize() {
        return overflowSlabSize;
    }

    /** The allowed paths, the preferred one first; {@link PathName#NETTY} is always the last. */
    public List<PathName> paths() {
        return paths;
    }

    /** How long a failed path to a peer stays unused. */
    public Duration pathRetry() {
        return pathRetry;
    }

    /** Longest wait for a peer's answer to the bootstrap. */
    public Duration bootstrapTimeout() {
        return bootstrapTimeout;
    }

    /** Whether blocks are checked before they are handed on. */
    public boolean checksumVerify() {
        return checksumVerify;
    }

    /** Whether records are written straight into slabs where they can be. */
    public boolean directWrite() {
        return directWrite;
    }

    /** Most reduce partitions that each have a chunk of their own while a task writes. */
    public int directWriteMaxPartitions() {
        return directWriteMaxPartitions;
    }

    /** Whether SQL's rows are read where they lie. */
    public boolean directRead() {
        return directRead;
    }

    /** When directly written map outputs are compressed. */
    public CompressMode compress() {
        return compress;
    }

    /** How long freed extents rest before they are used again. */
    public Duration quarantine() {
        return quarantine;
    }

    /** How often bytes by path are reported to the driver. */
    public Duration reportInterval() {
        return reportInterval;
    }

    /** Whether the place where a buffer was lent is kept until it is returned. */
    public boolean leakDetection() {
        return leakDetection;
    }

    private static <T> ConfigKey<T> key(String name, ValueType<T> type, String defaultText, String documentation) {
        return new ConfigKey<>(PREFIX + name, type, defaultText, documentation, SINCE);
    }

    private static void refuseUnknownKeys(SparkConf conf) {
        List<String> known = KEYS.stream().map(ConfigKey::name).toList();
        for (Tuple2<String, String> setting : conf.getAllWithPrefix(PREFIX)) {
            String name = PREFIX + setting._1();
            if (!known.contains(name)) {
                throw new IllegalArgumentException(name + "=" + setting._2()
                        + " is not a setting of this version: the nearest one is " + NearestName.of(name, known));
            }
        }
    }
}
