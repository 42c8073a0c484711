/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.write;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.apache.spark.shuffle.rdma.buffers.MigrationIndex;
import org.apache.spark.shuffle.rdma.catalog.ChecksumMismatchException;
import org.apache.spark.shuffle.rdma.catalog.ExecutorMemory;
import org.apache.spark.shuffle.rdma.catalog.MapOutput;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog.MapOutputId;
import org.apache.spark.shuffle.rdma.catalog.StoredBlock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.transport.memory.ExtentChain;

class MapOutputImportTest {
    private static final MapOutputId ID = new MapOutputId(3, 17);
    private static final byte[] DATA = {1, 2, 3, 4, 5};
    private static final long[] LENGTHS = {2, 0, 3};
    private static final int[] CRCS = {
        ExecutorMemory.crc(new byte[] {1, 2}), 0, ExecutorMemory.crc(new byte[] {3, 4, 5})
    };

    @TempDir
    private Path home;

    private ExecutorMemory memory;
    private MapOutputImport imports;

    @BeforeEach
    void open() throws IOException {
        memory = new ExecutorMemory(home);
        imports = new MapOutputImport(memory.catalog(), memory.pool(), memory.nanos()::get);
    }

    @AfterEach
    void close() throws IOException {
        memory.close();
    }

    @Test
    void dataThenIndexMakeAMapOutput() throws IOException {
        imports.dataArrived(ID, data());
        assertTrue(memory.catalog().acquire(ID).isEmpty());
        imports.indexArrived(ID, new MigrationIndex(LENGTHS, CRCS, false).encode());

        assertArrayEquals(new byte[] {3, 4, 5}, read(2, 3));
        assertArrayEquals(DATA, read(0, 3));
    }

    @Test
    void anIndexWithoutChecksIsTakenAsSparkSendsIt() throws IOException {
        ByteBuffer index = ByteBuffer.allocate(32)
                .putLong(0)
                .putLong(2)
                .putLong(2)
                .putLong(5)
                .flip();
        imports.dataArrived(ID, data());
        imports.indexArrived(ID, index);

        assertArrayEquals(DATA, read(0, 3));
    }

    @Test
    void anEmptyMapOutputComesAsAnIndexAlone() throws IOException {
        imports.indexArrived(ID, new MigrationIndex(new long[2], new int[2], false).encode());

        assertArrayEquals(new byte[0], read(0, 2));
    }

    @Test
    void anIndexOfDataThatDidNotArriveIsRefused() {
        IOException refusal = assertThrows(
                IOException.class, () -> imports.indexArrived(ID, new MigrationIndex(LENGTHS, CRCS, false).encode()));

        assertTrue(refusal.getMessage().contains("5 bytes, 0 have arrived"), refusal.getMessage());
        assertEquals(0, memory.inUse());
    }

    @Test
    void anIndexOfAnotherSizeIsRefusedAndTheDataGoesBack() throws IOException {
        imports.dataArrived(ID, data());

        assertThrows(
                IOException.class,
                () -> imports.indexArrived(ID, new MigrationIndex(new long[] {2, 4}, new int[2], false).encode()));

        assertEquals(0, memory.inUse());
        assertTrue(memory.catalog().acquire(ID).isEmpty());
    }

    @Test
    void bytesThatChangedOnTheWayAreRefused() throws IOException {
        ExtentChain data = data();
        imports.dataArrived(ID, data);
        ExecutorMemory.flip(data, 4);

        ChecksumMismatchException refusal = assertThrows(
                ChecksumMismatchException.class,
                () -> imports.indexArrived(ID, new MigrationIndex(LENGTHS, CRCS, false).encode()));

        assertTrue(refusal.getMessage().contains("partition 2 of map 17 of shuffle 3"), refusal.getMessage());
        assertEquals(0, memory.inUse());
        assertTrue(memory.catalog().acquire(ID).isEmpty());
    }

    @Test
    void aGarbledIndexLeavesTheDataForASecondTry() throws IOException {
        imports.dataArrived(ID, data());

        assertThrows(IOException.class, () -> imports.indexArrived(ID, ByteBuffer.allocate(5)));
        imports.indexArrived(ID, new MigrationIndex(LENGTHS, CRCS, false).encode());

        assertArrayEquals(DATA, read(0, 3));
    }

    @Test
    void dataThatArrivesTwiceIsKeptOnce() throws IOException {
        imports.dataArrived(ID, data());
        long once = memory.inUse();
        imports.dataArrived(ID, data());

        assertEquals(once, memory.inUse());
    }

    @Test
    void dataWhoseIndexNeverComesIsGivenBack() throws IOException {
        imports.dataArrived(ID, data());
        memory.nanos().addAndGet(TimeUnit.MINUTES.toNanos(9));
        imports.maintain();
        assertTrue(memory.inUse() > 0);

        memory.nanos().addAndGet(TimeUnit.MINUTES.toNanos(2));
        imports.maintain();

        assertEquals(0, memory.inUse());
    }

    private ExtentChain data() throws IOException {
        ExtentChain data = imports.newData();
        data.append(DATA, 0, DATA.length);
        return data;
    }

    private byte[] read(int start, int end) throws IOException {
        MapOutput output = memory.catalog().acquire(ID).orElseThrow();
        try (StoredBlock block = memory.catalog().read(output, start, end)) {
            block.verify("test");
            return ExecutorMemory.bytes(block.slices());
        } finally {
            output.release();
        }
    }
}
