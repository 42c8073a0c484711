/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.write;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.apache.spark.SparkConf;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.memory.MemoryConsumer;
import org.apache.spark.memory.MemoryMode;
import org.apache.spark.memory.TaskMemoryManager;
import org.apache.spark.memory.UnifiedMemoryManager;
import org.apache.spark.shuffle.rdma.catalog.ExecutorMemory;
import org.apache.spark.shuffle.rdma.catalog.MapOutput;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog.MapOutputId;
import org.apache.spark.shuffle.rdma.catalog.MapOutputData;
import org.apache.spark.unsafe.Platform;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GatheredRecordsTest {
    private static final long SEED = 20_261_207;
    private static final int PAGE = 64 << 10;
    private static final MapOutputId ID = new MapOutputId(1, 2);

    @TempDir
    private Path home;

    private final TaskMetrics metrics = new TaskMetrics();
    private ExecutorMemory memory;

    @BeforeEach
    void open() throws IOException {
        memory = new ExecutorMemory(home);
    }

    @AfterEach
    void close() throws IOException {
        memory.close();
    }

    /** Task memory from plenty to two pages; records from nothing to more than an extent. */
    @ParameterizedTest
    @CsvSource({"1, 64, 9", "10, 64, 9", "5000, 64, 9", "5000, 1, 3", "100000, 2, 3", "3, 16, 23"})
    void everyPartitionHasItsRecordsInTheirOrderHoweverOftenTheySpilled(int partitions, int taskMegabytes, int bits)
            throws IOException {
        Random random = new Random(SEED + partitions);
        PartitionChunks chunks = chunks(partitions);
        TaskMemoryManager task = taskMemory((long) taskMegabytes << 20);
        GatheredRecords gathered = new GatheredRecords(task, partitions, chunks, metrics);
        ByteArrayOutputStream[] expected = new ByteArrayOutputStream[partitions];
        long all = 0;
        for (int i = 0; i < 60_000 && all < 40 << 20; i++) {
            int partition = random.nextInt(partitions);
            byte[] record = new byte[random.nextInt(1 << (random.nextInt(50) == 0 ? bits : Math.min(bits, 8)))];
            random.nextBytes(record);
            all += record.length;
            if (expected[partition] == null) {
                expected[partition] = new ByteArrayOutputStream();
            }
            expected[partition].write(record);
            append(gathered, partition, record);
        }
        gathered.layOut();
        assertEquals(0, gathered.getUsed());
        assertEquals(0, task.cleanUpAllAllocatedMemory());
        memory.catalog().publish(ID, chunks.finish(), memory.pool());
        assertPartitions(expected);
        memory.catalog().withdraw(ID);
        assertEquals(0, memory.inUse());
    }

    @Test
    void whatIsLaidOutTakesLittleMoreThanItsBytes() throws IOException {
        int partitions = 20_000;
        PartitionChunks chunks = chunks(partitions);
        GatheredRecords gathered = new GatheredRecords(taskMemory(64 << 20), partitions, chunks, metrics);
        byte[] record = new byte[100];
        for (int i = 0; i < 100_000; i++) {
            append(gathered, i % partitions, record);
        }
        gathered.layOut();
        chunks.finish();
        assertTrue(memory.inUse() < 100_000 * 100 * 1.1, memory.inUse() + " bytes for 10,000,000");
        chunks.free();
        assertEquals(0, memory.inUse());
    }

    /** The test's slabs are of 1 MiB. */
    @Test
    void aPartitionLargerThanASlabIsLaidOutInSeveralSlabs() throws IOException {
        PartitionChunks chunks = chunks(1);
        GatheredRecords gathered = new GatheredRecords(taskMemory(64 << 20), 1, chunks, metrics);
        byte[] record = new byte[1000];
        for (int i = 0; i < 3000; i++) {
            append(gathered, 0, record);
        }
        gathered.layOut();
        MapOutputData data = chunks.finish();
        data.pieces(
                0,
                (slab, offset, length) ->
                        assertEquals(1 << 20, memory.memory(slab).capacity(), "slab " + slab));
        data.givingBack().run();
    }

    @Test
    void anotherConsumerOfTheTaskGetsTheMemoryAndNothingIsLost() throws IOException {
        PartitionChunks chunks = chunks(3);
        TaskMemoryManager task = taskMemory(2 << 20);
        GatheredRecords gathered = new GatheredRecords(task, 3, chunks, metrics);
        ByteArrayOutputStream[] expected = {new ByteArrayOutputStream(), null, new ByteArrayOutputStream()};
        for (byte i = 0; i < 100; i++) {
            byte[] record = {i, 1, 2, 3, 4, 5, 6, 7, 8, 9};
            append(gathered, i % 2 * 2, record);
            expected[i % 2 * 2].write(record);
            if (i == 50) {
                assertTrue(gathered.getUsed() > 0);
                assertEquals(2 << 20, new Other(task).acquireMemory(2 << 20));
                assertEquals(0, gathered.getUsed());
                assertEquals(PAGE, metrics.memoryBytesSpilled());
                task.cleanUpAllAllocatedMemory();
            }
        }
        gathered.layOut();
        memory.catalog().publish(ID, chunks.finish(), memory.pool());
        assertPartitions(expected);
    }

    @Test
    void anotherThreadOfTheTaskDoesNotSpillInTheMiddleOfARecord() throws IOException {
        TaskMemoryManager task = taskMemory(2 << 20);
        GatheredRecords gathered = new GatheredRecords(task, 3, chunks(3), metrics);
        append(gathered, 1, new byte[10]);
        long got = CompletableFuture.supplyAsync(() -> new Other(task).acquireMemory(2 << 20))
                .join();
        assertEquals((2 << 20) - PAGE, got);
        assertEquals(PAGE, gathered.getUsed());
        gathered.free();
    }

    /** An operator that catches the lack of memory and goes on must not have records laid out twice. */
    @Test
    void recordsThatCouldNotBeMovedFailTheTaskEvenIfTheErrorWasCaught() throws IOException {
        PartitionChunks chunks = chunks(3);
        TaskMemoryManager task = taskMemory(2 << 20);
        GatheredRecords gathered = new GatheredRecords(task, 3, chunks, metrics);
        append(gathered, 1, new byte[10]);
        memory.pool().close();
        assertThrows(OutOfMemoryError.class, () -> new Other(task).acquireMemory(2 << 20));
        assertEquals(
                "the records of this map output could not be moved out of task memory before",
                assertThrows(IOException.class, gathered::layOut).getMessage());
        gathered.free();
        assertEquals(0, gathered.getUsed());
    }

    @Test
    void aRecordThatTaskMemoryCannotHoldIsRefusedWithSparksOwnError() throws IOException {
        GatheredRecords gathered = new GatheredRecords(taskMemory(1 << 20), 3, chunks(3), metrics);
        append(gathered, 1, new byte[10]);
        assertThrows(OutOfMemoryError.class, () -> gathered.reserve(2, 2 << 20));
        gathered.free();
    }

    private void assertPartitions(ByteArrayOutputStream[] expected) throws IOException {
        MapOutput output = memory.catalog().acquire(ID).orElseThrow();
        for (int partition = 0; partition < expected.length; partition++) {
            if (expected[partition] != null) {
                assertArrayEquals(
                        expected[partition].toByteArray(),
                        ExecutorMemory.bytes(memory.catalog()
                                .read(output, partition, partition + 1)
                                .slices()),
                        "partition " + partition);
            }
        }
        output.release();
    }

    private static void append(GatheredRecords gathered, int partition, byte[] record) throws IOException {
        long at = gathered.reserve(partition, record.length);
        Platform.copyMemory(record, Platform.BYTE_ARRAY_OFFSET, gathered.base(), at, record.length);
        gathered.written(partition, record.length);
    }

    private PartitionChunks chunks(int partitions) {
        return new PartitionChunks(memory.pool(), partitions, PartitionChunks.largestChunkFor(partitions));
    }

    private static TaskMemoryManager taskMemory(long bytes) {
        SparkConf conf = new SparkConf(false)
                .set("spark.buffer.pageSize", Integer.toString(PAGE))
                .set("spark.memory.offHeap.enabled", "false");
        return new TaskMemoryManager(new UnifiedMemoryManager(conf, bytes, bytes / 2, 1), 0);
    }

    /** An operator of the same task, such as a sort. */
    private static final class Other extends MemoryConsumer {
        Other(TaskMemoryManager task) {
            super(task, MemoryMode.ON_HEAP);
        }

        @Override
        public long spill(long wanted, MemoryConsumer trigger) {
            return 0;
        }
    }
}
