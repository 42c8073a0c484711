/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.catalog;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import java.util.zip.CRC32C;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog.MapOutputId;
import org.sparkrdma.transport.memory.ExtentChain;
import org.sparkrdma.transport.memory.MemoryGuard;
import org.sparkrdma.transport.memory.SegmentFile;
import org.sparkrdma.transport.memory.Slab;
import org.sparkrdma.transport.memory.SlabListener;
import org.sparkrdma.transport.memory.SlabPool;
import org.sparkrdma.transport.memory.SlabPoolOptions;
import org.sparkrdma.transport.wire.DirectoryLayout;

/** An executor's memory without Spark: a pool of slabs in a temporary directory, its catalog, and a clock by hand. */
public final class ExecutorMemory implements AutoCloseable {
    public static final Duration QUARANTINE = Duration.ofSeconds(5);

    private final AtomicLong nanos = new AtomicLong();
    private final Map<Integer, Slab> slabs = new ConcurrentHashMap<>();
    private final SegmentFile.Factory files = new SegmentFile.Factory();
    private final SegmentFile directory;
    private final MapOutputCatalog catalog;
    private final SlabPool pool;

    /** Slabs of 1 MiB, as many as are asked for. */
    public ExecutorMemory(Path home) throws IOException {
        this(home, 1 << 20, 1L << 40, UnaryOperator.identity());
    }

    public ExecutorMemory(Path home, long slabBytes, long memoryMax, UnaryOperator<SlabListener> around)
            throws IOException {
        directory = files.create(home, DirectoryLayout.REGION_BYTES);
        catalog = new MapOutputCatalog("exec", directory);
        SlabListener remember = new SlabListener() {
            @Override
            public void slabOpened(Slab slab) {
                slabs.put(slab.id(), slab);
                catalog.slabListener().slabOpened(slab);
            }

            @Override
            public void slabClosed(Slab slab) {
                catalog.slabListener().slabClosed(slab);
                slabs.remove(slab.id(), slab);
            }
        };
        pool = new SlabPool(
                new SlabPoolOptions(
                        memoryMax,
                        slabBytes,
                        0,
                        Optional.of(home),
                        List.of(home),
                        1 << 20,
                        QUARANTINE,
                        Duration.ofDays(1),
                        4096,
                        true),
                files,
                nanos::get,
                MemoryGuard.NONE,
                around.apply(remember));
    }

    public MapOutputCatalog catalog() {
        return catalog;
    }

    public SlabPool pool() {
        return pool;
    }

    public AtomicLong nanos() {
        return nanos;
    }

    /** The memory of a slab, or of the directory, for writing. */
    public ByteBuffer memory(int slabId) {
        return slabId == DirectoryLayout.DIRECTORY_SLAB
                ? directory.memory()
                : slabs.get(slabId).memory();
    }

    /** Bytes of extents that are out and do not rest. */
    public long inUse() {
        return pool.usage().used() - pool.usage().quarantined();
    }

    /** Lets the quarantine pass. */
    public void rest() {
        nanos.addAndGet(QUARANTINE.toNanos());
        pool.maintain();
    }

    /** Publishes partitions; the answer tells where they lie. */
    public ExtentChain publish(int shuffleId, long mapId, byte[]... partitions) throws IOException {
        ExtentChain data = new ExtentChain(pool);
        for (byte[] partition : partitions) {
            data.append(partition, 0, partition.length);
        }
        data.seal();
        catalog.publish(
                new MapOutputId(shuffleId, mapId),
                data,
                Arrays.stream(partitions).mapToLong(bytes -> bytes.length).toArray(),
                Arrays.stream(partitions).mapToInt(ExecutorMemory::crc).toArray(),
                false,
                pool);
        return data;
    }

    /** Flips a bit of a byte of a chain. */
    public static void flip(ExtentChain data, long position) {
        ExtentChain.Piece piece = data.pieces(position, position + 1).get(0);
        flip(piece.slab().memory(), (int) piece.offset(), 1);
    }

    public static void flip(ByteBuffer memory, int at, int mask) {
        memory.put(at, (byte) (memory.get(at) ^ mask));
    }

    public static int crc(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes);
        return (int) crc.getValue();
    }

    /** The bytes of slices. */
    public static byte[] bytes(List<ByteBuffer> slices) {
        ByteBuffer all = ByteBuffer.allocate(
                slices.stream().mapToInt(ByteBuffer::remaining).sum());
        slices.forEach(slice -> all.put(slice.duplicate()));
        return all.array();
    }

    @Override
    public void close() throws IOException {
        catalog.close();
        pool.close();
    }
}
