/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.write;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.memory.TaskMemoryManager;
import org.apache.spark.memory.UnifiedMemoryManager;
import org.apache.spark.unsafe.Platform;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.sparkrdma.transport.memory.MemoryGuard;
import org.sparkrdma.transport.memory.SegmentFile;
import org.sparkrdma.transport.memory.Slab;
import org.sparkrdma.transport.memory.SlabListener;
import org.sparkrdma.transport.memory.SlabPool;
import org.sparkrdma.transport.memory.SlabPoolOptions;

/**
 * Appends rows of one size for a whole map output, checksums included: nanoseconds per row. Straight to chunks, or
 * gathered in task memory first.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class AppendBenchmark {
    private static final int ROWS = 1_000_000;

    @Param({"16", "304"})
    int rowBytes;

    @Param({"32", "500", "2000", "5000", "10000"})
    int partitions;

    @Param({"false", "true"})
    boolean isGathered;

    private SlabPool pool;
    private TaskMemoryManager task;
    private byte[] row;
    private Path overflow;

    /** A pool that gives memory back at once. */
    @Setup
    public void open() throws IOException {
        overflow = Files.createTempDirectory("append");
        SlabListener nobody = new SlabListener() {
            @Override
            public void slabOpened(Slab slab) {}

            @Override
            public void slabClosed(Slab slab) {}
        };
        pool = new SlabPool(
                new SlabPoolOptions(
                        512 << 20,
                        64 << 20,
                        0,
                        Optional.of(Path.of("/dev/shm")),
                        List.of(overflow),
                        64 << 20,
                        Duration.ZERO,
                        Duration.ofDays(1),
                        4096,
                        false),
                new SegmentFile.Factory(),
                System::nanoTime,
                MemoryGuard.NONE,
                nobody);
        row = new byte[rowBytes];
        long taskBytes = 512L << 20;
        task = new TaskMemoryManager(
                new UnifiedMemoryManager(
                        new SparkConf(false).set("spark.buffer.pageSize", "16m"), taskBytes, taskBytes / 2, 1),
                0);
    }

    /** One map output. */
    @Benchmark
    @OperationsPerInvocation(ROWS)
    public void append() throws IOException {
        PartitionChunks chunks = new PartitionChunks(pool, partitions, PartitionChunks.largestChunkFor(partitions));
        if (isGathered) {
            GatheredRecords gathered = new GatheredRecords(task, partitions, chunks, new TaskMetrics());
            appendAll(gathered);
            gathered.layOut();
        } else {
            appendAll(chunks);
        }
        chunks.finish();
        chunks.free();
    }

    private void appendAll(RecordSink sink) throws IOException {
        for (int i = 0; i < ROWS; i++) {
            // As a hash would spread them: in no order that a cache could guess.
            int partition = (int) ((i * 0x9E3779B97F4A7C15L >>> 33) % partitions);
            long at = sink.reserve(partition, 4 + rowBytes);
            Object to = sink.base();
            Platform.putInt(to, at, Integer.reverseBytes(rowBytes));
            RowAppender.copy(row, Platform.BYTE_ARRAY_OFFSET, to, at + 4, rowBytes);
            sink.written(partition, 4 + rowBytes);
        }
    }

    /** Nothing stays behind. */
    @TearDown
    public void close() throws IOException {
        pool.close();
        Files.delete(overflow);
    }
}
