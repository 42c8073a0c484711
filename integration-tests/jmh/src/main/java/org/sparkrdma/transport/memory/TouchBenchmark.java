/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** What a slab of 64 MiB costs when it is made, when it is filled for the first time, and when it is used again. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class TouchBenchmark {
    private static final int SLAB = 64 << 20;

    /** A tmpfs; one that is mounted with {@code huge=always} shows what huge pages bring. */
    @Param("/dev/shm")
    String directory;

    private final SegmentFile.Factory files = new SegmentFile.Factory();
    private final byte[] chunk = new byte[64 << 10];
    private SegmentFile used;

    /** A slab that was filled once. */
    @Setup
    public void open() throws IOException {
        used = files.create(Path.of(directory), SLAB);
        fill(used.memory());
    }

    /** The slab is created, written with zeros and mapped, which is what the background thread does ahead of need. */
    @Benchmark
    public void make() throws IOException {
        files.create(Path.of(directory), SLAB).close();
    }

    /** The same, and filled through its mapping. */
    @Benchmark
    public void makeAndFill() throws IOException {
        try (SegmentFile fresh = files.create(Path.of(directory), SLAB)) {
            fill(fresh.memory());
        }
    }

    /** A recycled slab is filled. */
    @Benchmark
    public void fillAgain() {
        fill(used.memory());
    }

    /** Nothing stays behind. */
    @TearDown
    public void close() throws IOException {
        used.close();
    }

    private void fill(ByteBuffer memory) {
        while (memory.hasRemaining()) {
            memory.put(chunk);
        }
    }
}
