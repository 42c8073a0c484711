/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma;

import java.io.File;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.spark.SparkConf;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog;
import org.apache.spark.shuffle.rdma.compat.TransportConfs;
import org.apache.spark.shuffle.rdma.config.CompressMode;
import org.apache.spark.shuffle.rdma.config.PathName;
import org.apache.spark.shuffle.rdma.config.RdmaShuffleConf;
import org.apache.spark.shuffle.rdma.fallback.Bootstrap;
import org.apache.spark.shuffle.rdma.fallback.NettyPath;
import org.apache.spark.shuffle.rdma.fallback.PeerName;
import org.apache.spark.shuffle.rdma.metrics.ExecutorReport;
import org.apache.spark.shuffle.rdma.metrics.ExecutorReporter;
import org.apache.spark.shuffle.rdma.metrics.PathCounters;
import org.apache.spark.shuffle.rdma.metrics.SlabBytes;
import org.apache.spark.shuffle.rdma.read.ReadPaths;
import org.apache.spark.shuffle.rdma.write.DirectWritePolicy;
import org.apache.spark.shuffle.rdma.write.MapOutputImport;
import org.apache.spark.storage.BlockManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.transport.api.BlockTransport;
import org.sparkrdma.transport.memory.MemoryGuard;
import org.sparkrdma.transport.memory.SegmentFile;
import org.sparkrdma.transport.memory.SegmentNames;
import org.sparkrdma.transport.memory.SlabPool;
import org.sparkrdma.transport.memory.SlabPoolOptions;
import org.sparkrdma.transport.select.PathSelector;
import org.sparkrdma.transport.shm.ShmTransport;
import org.sparkrdma.transport.wire.DirectoryLayout;
import org.sparkrdma.transport.wire.SlabTableLayout;

/**
 * All that an executor owns: slabs, catalog, transports, counters, and the one thread that looks after them. Made when
 * the first task writes or reads, closed with the shuffle manager; parents close their children.
 */
final class ExecutorRuntime implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ExecutorRuntime.class);
    private static final long MAINTENANCE_MILLIS = 100;
    private static final long PEER_CHECK_ROUNDS = 50;
    private static final long READ_TIMEOUT_MILLIS = TimeUnit.SECONDS.toMillis(30);

    private final String executorId;
    private final SlabPool pool;
    private final DirectWritePolicy directWrite;
    private final boolean isSparkOutputRaw;
    private final OutgoingBlocks outgoing;
    private final MapOutputCatalog catalog;
    private final MapOutputImport imports;
    private final PathSelector<PeerName> selector;
    private final ReadPaths readPaths;
    private final PathCounters counters = new PathCounters();
    private final ExecutorReporter reporter;
    private final ScheduledExecutorService caretaker;
    private long round;

    /**
     * @param settings the plugin's settings
     * @param conf Spark's settings
     * @param blockManager initialized
     * @param send carries reports to the driver
     */
    ExecutorRuntime(RdmaShuffleConf settings, SparkConf conf, BlockManager blockManager, Consumer<ExecutorReport> send)
            throws IOException {
        executorId = blockManager.blockManagerId().executorId();
        SegmentFile.Factory files = new SegmentFile.Factory();
        List<Path> localDirectories = overflowDirectories(settings, blockManager);
        Optional<Path> memoryDirectory = writable(settings.shmDir());
        sweep(memoryDirectory, localDirectories);

        SlabPoolOptions options = options(settings, memoryDirectory, localDirectories);
        catalog = new MapOutputCatalog(executorId, directoryFile(files, memoryDirectory, localDirectories));
        pool = new SlabPool(options, files, System::nanoTime, MemoryGuard.ofMachine(), catalog.slabListener());
        imports = new MapOutputImport(catalog, pool, System::nanoTime);

        boolean isSparkCompressing = conf.getBoolean("spark.shuffle.compress", true);
        boolean isSparkEncrypting = conf.getBoolean("spark.io.encryption.enabled", false);
        directWrite = new DirectWritePolicy(
                settings.directWrite(),
                settings.directWriteMaxPartitions(),
                settings.compress(),
                isSparkCompressing,
                isSparkEncrypting);
        isSparkOutputRaw = !isSparkCompressing && !isSparkEncrypting;
        outgoing =
                new OutgoingBlocks(isSparkCompressing && settings.compress() != CompressMode.NEVER, isSparkCompressing);

        List<BlockTransport> transports = transports(settings);
        selector = new PathSelector<>(transports, settings.pathRetry(), System::nanoTime);
        BlockStoreClient transfer = blockManager.blockTransferService();
        readPaths = new ReadPaths(
                selector,
                new Bootstrap(transfer, settings.bootstrapTimeout()),
                new NettyPath(transfer, settings.checksumVerify(), TransportConfs.shuffle(conf)),
                transfer,
                counters,
                settings.checksumVerify(),
                READ_TIMEOUT_MILLIS);
        reporter = new ExecutorReporter(
                () -> new ExecutorReport(executorId, counters.read(), SlabBytes.of(pool.usage())), send);
        caretaker = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, "rdma-shuffle-caretaker");
            thread.setDaemon(true);
            return thread;
        });
        long reportRounds = Math.max(1, settings.reportInterval().toMillis() / MAINTENANCE_MILLIS);
        var unused = caretaker.scheduleWithFixedDelay(
                () -> maintain(reportRounds), MAINTENANCE_MILLIS, MAINTENANCE_MILLIS, TimeUnit.MILLISECONDS);
        sayStart(settings, memoryDirectory, transports, files);
    }

    MapOutputCatalog catalog() {
        return catalog;
    }

    SlabPool pool() {
        return pool;
    }

    DirectWritePolicy directWrite() {
        return directWrite;
    }

    /** Whether what Spark's own writers leave is neither compressed nor encrypted. */
    boolean isSparkOutputRaw() {
        return isSparkOutputRaw;
    }

    OutgoingBlocks outgoing() {
        return outgoing;
    }

    MapOutputImport imports() {
        return imports;
    }

    ReadPaths readPaths() {
        return readPaths;
    }

    PathCounters counters() {
        return counters;
    }

    /** A shuffle is over: its map outputs go, and so do mappings of memory that peers have given up. */
    void unregisterShuffle(int shuffleId) {
        catalog.withdrawShuffle(shuffleId);
        selector.maintain();
    }

    @Override
    public void close() {
        caretaker.shutdownNow();
        report();
        LOG.info(
                "executor {} read {}; {}",
                executorId,
                counters.read().describe(),
                SlabBytes.of(pool.usage()).describe());
        selector.close();
        try {
            catalog.close();
        } catch (IOException e) {
            LOG.warn("the directory of executor {} could not be closed", executorId, e);
        }
        pool.close();
    }

    private void maintain(long reportRounds) {
        try {
            round++;
            pool.maintain();
            if (round % reportRounds == 0) {
                report();
            }
            if (round % PEER_CHECK_ROUNDS == 0) {
                selector.maintain();
                imports.maintain();
            }
        } catch (RuntimeException | Error e) { // An exception would end the schedule for good, and nobody would know.
            LOG.warn("looking after the shuffle memory of executor {} failed; tried again", executorId, e);
        }
    }

    private void report() {
        try {
            reporter.report();
        } catch (RuntimeException e) {
            LOG.debug("the driver could not be told of the bytes read; the next report makes good for it", e);
        }
    }

    private static List<Path> overflowDirectories(RdmaShuffleConf settings, BlockManager blockManager) {
        return settings.overflowDirs().isEmpty()
                ? Arrays.stream(blockManager.diskBlockManager().localDirs())
                        .map(File::toPath)
                        .toList()
                : settings.overflowDirs();
    }

    private static Optional<Path> writable(Path directory) {
        return Files.isDirectory(directory) && Files.isWritable(directory) ? Optional.of(directory) : Optional.empty();
    }

    /** In shared memory, or, if that is full or refuses, in the first local directory that takes it. */
    private static SegmentFile directoryFile(
            SegmentFile.Factory files, Optional<Path> memoryDirectory, List<Path> localDirectories) throws IOException {
        List<Path> homes = new ArrayList<>();
        memoryDirectory.ifPresent(homes::add);
        homes.addAll(localDirectories);
        IOException failure = new IOException("no directory takes a file of " + DirectoryLayout.REGION_BYTES
                + " bytes: spark.shuffle.rdma.shm.dir and spark.local.dir were tried: " + homes);
        for (Path home : homes) {
            try {
                return files.create(home, DirectoryLayout.REGION_BYTES);
            } catch (ClosedByInterruptException e) {
                throw e; // Says something about this thread, nothing about the directory.
            } catch (IOException e) {
                failure.addSuppressed(e);
            }
        }
        throw failure;
    }

    private static void sweep(Optional<Path> memoryDirectory, List<Path> localDirectories) {
        List<Path> directories = new ArrayList<>(localDirectories);
        memoryDirectory.ifPresent(directories::add);
        for (Path directory : directories) {
            try {
                List<Path> swept = SegmentNames.sweep(directory);
                if (!swept.isEmpty()) {
                    LOG.info("deleted what executors that have died left: {}", swept);
                }
            } catch (IOException e) {
                LOG.debug("{} could not be looked through for left-overs", directory, e);
            }
        }
    }

    /** A slab takes at most a quarter of a small file system, so that several executors share it. */
    private static SlabPoolOptions options(
            RdmaShuffleConf settings, Optional<Path> memoryDirectory, List<Path> localDirectories) throws IOException {
        long slabBytes = Math.min(settings.slabSize(), Long.highestOneBit(settings.memoryMax()));
        if (memoryDirectory.isPresent()) {
            long quarter = Files.getFileStore(memoryDirectory.get()).getUsableSpace() / 4;
            slabBytes = Math.max(Math.min(slabBytes, Long.highestOneBit(Math.max(quarter, 1))), 1 << 20);
        }
        return new SlabPoolOptions(
                settings.memoryMax(),
                slabBytes,
                settings.slabAhead(),
                memoryDirectory,
                localDirectories,
                settings.overflowSlabSize(),
                settings.quarantine(),
                settings.slabIdle(),
                SlabTableLayout.CAPACITY,
                settings.leakDetection());
    }

    private static List<BlockTransport> transports(RdmaShuffleConf settings) {
        List<BlockTransport> transports = new ArrayList<>();
        for (PathName path : settings.paths()) {
            if (path == PathName.SHM) {
                transports.add(new ShmTransport());
            }
        }
        return transports;
    }

    private void sayStart(
            RdmaShuffleConf settings,
            Optional<Path> memoryDirectory,
            List<BlockTransport> transports,
            SegmentFile.Factory files) {
        StringBuilder paths = new StringBuilder("local");
        transports.stream()
                .filter(transport -> transport.availability().isAvailable())
                .forEach(transport -> paths.append(", ").append(transport.name()));
        paths.append(", netty");
        transports.stream()
                .filter(transport -> !transport.availability().isAvailable())
                .forEach(transport -> paths.append("; not ")
                        .append(transport.name())
                        .append(": ")
                        .append(transport.availability().unavailabilityCause()));
        String memory = memoryDirectory
                .map(directory -> "map outputs in " + directory + " up to " + settings.memoryMax() + " bytes")
                .orElse("map outputs in files on local disk, because " + settings.shmDir() + " is not a directory that"
                        + " can be written (spark.shuffle.rdma.shm.dir)");
        LOG.info(
                "executor {}: {}; paths: {}{}",
                executorId,
                memory,
                paths,
                files.anonymity().isAvailable()
                        ? ""
                        : "; slab files keep their names: " + files.anonymity().unavailabilityCause());
    }
}
