/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.write;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
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

/** Appends 100,000 rows of one size to chunks, checksums included: nanoseconds per row. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class AppendBenchmark {
    private static final int ROWS = 100_000;

    @Param({"16", "304"})
    int rowBytes;

    @Param({"32", "500"})
    int partitions;

    private SlabPool pool;
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
                        4096,
                        false),
                new SegmentFile.Factory(),
                System::nanoTime,
                MemoryGuard.NONE,
                nobody);
        row = new byte[rowBytes];
    }

    /** One map output. */
    @Benchmark
    @OperationsPerInvocation(ROWS)
    public void append() throws IOException {
        PartitionChunks chunks = new PartitionChunks(pool, partitions, PartitionChunks.largestChunkFor(partitions));
        int partition = 0;
        for (int i = 0; i < ROWS; i++) {
            long at = chunks.reserve(partition, 4 + rowBytes);
            Platform.putInt(null, at, Integer.reverseBytes(rowBytes));
            RowAppender.copy(row, Platform.BYTE_ARRAY_OFFSET, null, at + 4, rowBytes);
            chunks.written(partition, 4 + rowBytes);
            partition = partition + 7 < partitions ? partition + 7 : partition + 7 - partitions;
        }
        chunks.finish();
        chunks.free();
    }

    /** Nothing stays behind. */
    @TearDown
    public void close() throws IOException {
        pool.close();
        Files.delete(overflow);
    }
}
