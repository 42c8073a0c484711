/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.write;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.apache.spark.shuffle.rdma.catalog.ExecutorMemory;
import org.apache.spark.shuffle.rdma.catalog.MapOutput;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog.MapOutputId;
import org.apache.spark.shuffle.rdma.catalog.StoredBlock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpillFileMapOutputWriterTest {
    private static final MapOutputId ID = new MapOutputId(3, 17);

    @TempDir
    private Path home;

    private ExecutorMemory memory;
    private Path spill;

    @BeforeEach
    void open() throws IOException {
        memory = new ExecutorMemory(home);
        spill = home.resolve("temp_shuffle_1");
    }

    @AfterEach
    void close() throws IOException {
        memory.close();
    }

    @Test
    void theFileMovesIntoExtentsWithItsPartitions() throws IOException {
        byte[] bytes = new byte[5_000_000];
        new Random(1).nextBytes(bytes);
        Files.write(spill, bytes);

        writer().transferMapSpillFile(spill.toFile(), new long[] {0, 10, 4_000_000, 0, 999_990}, new long[0]);

        assertFalse(Files.exists(spill));
        MapOutput output = memory.catalog().acquire(ID).orElseThrow();
        try (StoredBlock middle = memory.catalog().read(output, 1, 3);
                StoredBlock all = memory.catalog().read(output, 0, 5)) {
            middle.verify("test");
            all.verify("test");
            assertArrayEquals(Arrays.copyOf(bytes, 4_000_010), ExecutorMemory.bytes(middle.slices()));
            assertArrayEquals(bytes, ExecutorMemory.bytes(all.slices()));
        }
        output.release();
    }

    @Test
    void anEmptyFileIsAnEmptyMapOutput() throws IOException {
        Files.write(spill, new byte[0]);

        writer().transferMapSpillFile(spill.toFile(), new long[3], new long[0]);

        assertEquals(0, memory.catalog().acquire(ID).orElseThrow().dataBytes());
    }

    @Test
    void lengthsThatAreNotTheFilesAreRefusedAndNothingIsKept() throws IOException {
        Files.write(spill, new byte[100_000]);
        for (long[] lengths : new long[][] {{99_999}, {100_001}, {200_000, -100_000}, {}}) {
            IOException refusal = assertThrows(
                    IOException.class, () -> writer().transferMapSpillFile(spill.toFile(), lengths, new long[0]));

            assertTrue(refusal.getMessage().contains("map 17 of shuffle 3"), refusal.getMessage());
            assertEquals(0, memory.inUse());
            assertTrue(memory.catalog().acquire(ID).isEmpty());
        }
    }

    @Test
    void aFileThatIsNotThereIsAnErrorThatNamesIt() {
        IOException refusal = assertThrows(
                IOException.class, () -> writer().transferMapSpillFile(spill.toFile(), new long[1], new long[0]));

        assertTrue(refusal.getMessage().contains("temp_shuffle_1"));
        assertEquals(0, memory.inUse());
    }

    private SpillFileMapOutputWriter writer() {
        return new SpillFileMapOutputWriter(ID, false, memory.catalog(), memory.pool());
    }
}
