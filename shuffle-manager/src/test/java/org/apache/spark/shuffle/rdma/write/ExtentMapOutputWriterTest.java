/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.write;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.apache.spark.shuffle.api.ShufflePartitionWriter;
import org.apache.spark.shuffle.rdma.catalog.ExecutorMemory;
import org.apache.spark.shuffle.rdma.catalog.MapOutput;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog.MapOutputId;
import org.apache.spark.shuffle.rdma.catalog.StoredBlock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExtentMapOutputWriterTest {
    private static final MapOutputId ID = new MapOutputId(3, 17);

    @TempDir
    private Path home;

    private ExecutorMemory memory;

    @BeforeEach
    void open() throws IOException {
        memory = new ExecutorMemory(home);
    }

    @AfterEach
    void close() throws IOException {
        memory.close();
    }

    @Test
    void whatIsWrittenByStreamAndByChannelIsReadBack() throws IOException {
        byte[] first = random(100_000);
        byte[] second = random(3_000_000);
        byte[] third = {1, 2, 3};
        ExtentMapOutputWriter writer = writer(6);

        try (OutputStream out = writer.getPartitionWriter(0).openStream()) {
            out.write(first, 0, 50_000);
            out.write(first[50_000]);
            out.write(first, 50_001, 49_999);
        }
        ShufflePartitionWriter middle = writer.getPartitionWriter(2);
        try (WritableByteChannel out = middle.openChannelWrapper().orElseThrow().channel()) {
            assertEquals(
                    second.length,
                    out.write(ByteBuffer.allocateDirect(second.length)
                            .put(0, second)
                            .asReadOnlyBuffer()));
            assertEquals(0, out.write(ByteBuffer.allocate(0)));
        }
        assertEquals(second.length, middle.getNumBytesWritten());
        writer.getPartitionWriter(3);
        writer.getPartitionWriter(4).openStream().write(third);
        long[] lengths = writer.commitAllPartitions(new long[0]).getPartitionLengths();

        assertArrayEquals(new long[] {first.length, 0, second.length, 0, third.length, 0}, lengths);
        assertArrayEquals(first, read(0, 1));
        assertArrayEquals(new byte[0], read(1, 2));
        assertArrayEquals(second, read(2, 3));
        assertArrayEquals(third, read(3, 6));
        assertEquals(first.length + second.length + third.length, read(0, 6).length);
    }

    @Test
    void aPartitionMayBeWrittenByTwoStreamsInARow() throws IOException {
        ExtentMapOutputWriter writer = writer(1);
        ShufflePartitionWriter partition = writer.getPartitionWriter(0);
        partition.openStream().write(new byte[] {1, 2});
        partition.openStream().write(new byte[] {3});
        writer.commitAllPartitions(new long[0]);

        assertArrayEquals(new byte[] {1, 2, 3}, read(0, 1));
    }

    @Test
    void anOutputWithoutRecordsIsPublished() throws IOException {
        assertArrayEquals(
                new long[200], writer(200).commitAllPartitions(new long[0]).getPartitionLengths());
        assertArrayEquals(new byte[0], read(0, 200));
    }

    @Test
    void partitionsAreWrittenInIncreasingOrderOnly() throws IOException {
        ExtentMapOutputWriter writer = writer(4);
        OutputStream early = writer.getPartitionWriter(1).openStream();
        WritableByteChannel alsoEarly =
                writer.getPartitionWriter(2).openChannelWrapper().orElseThrow().channel();
        writer.getPartitionWriter(3);

        assertThrows(IllegalArgumentException.class, () -> writer.getPartitionWriter(3));
        assertThrows(IllegalArgumentException.class, () -> writer.getPartitionWriter(0));
        assertThrows(IllegalArgumentException.class, () -> writer.getPartitionWriter(4));
        assertThrows(IOException.class, () -> early.write(1));
        assertThrows(IOException.class, () -> alsoEarly.write(ByteBuffer.allocate(1)));
    }

    @Test
    void whatWasClosedIsNotWrittenTo() throws IOException {
        ExtentMapOutputWriter writer = writer(1);
        OutputStream out = writer.getPartitionWriter(0).openStream();
        out.close();
        assertThrows(IOException.class, () -> out.write(new byte[1]));

        ExtentMapOutputWriter other = writer(1);
        WritableByteChannel channel =
                other.getPartitionWriter(0).openChannelWrapper().orElseThrow().channel();
        assertTrue(channel.isOpen());
        channel.close();
        assertFalse(channel.isOpen());
        assertThrows(ClosedChannelException.class, () -> channel.write(ByteBuffer.allocate(1)));
        writer.abort(new IOException("test"));
        other.abort(new IOException("test"));
    }

    @Test
    void abortGivesTheExtentsBack() throws IOException {
        ExtentMapOutputWriter writer = writer(2);
        writer.getPartitionWriter(0).openStream().write(random(2_000_000));
        assertTrue(memory.inUse() >= 2_000_000);

        writer.abort(new IOException("test"));
        writer.abort(new IOException("test"));

        assertEquals(0, memory.inUse());
        assertTrue(memory.catalog().acquire(ID).isEmpty());
        memory.rest();
        assertEquals(0, memory.pool().usage().used());
    }

    @Test
    void abortAfterTheCommitWithdrawsTheMapOutput() throws IOException {
        ExtentMapOutputWriter writer = writer(1);
        writer.getPartitionWriter(0).openStream().write(random(100_000));
        writer.commitAllPartitions(new long[0]);
        MapOutput reader = memory.catalog().acquire(ID).orElseThrow();

        writer.abort(new IOException("the task failed after its commit"));

        assertTrue(memory.catalog().acquire(ID).isEmpty());
        assertTrue(memory.inUse() > 0, "a reader still holds it");
        reader.release();
        assertEquals(0, memory.inUse());
    }

    @Test
    void theEndOfATaskThatDidNotCommitGivesTheExtentsBack() throws IOException {
        ExtentMapOutputWriter failed = writer(2);
        failed.getPartitionWriter(0).openStream().write(random(100_000));
        failed.taskEnded();
        assertEquals(0, memory.inUse());

        ExtentMapOutputWriter committed = writer(1);
        committed.getPartitionWriter(0).openStream().write(new byte[] {5});
        committed.commitAllPartitions(new long[0]);
        committed.taskEnded();
        assertArrayEquals(new byte[] {5}, read(0, 1));
    }

    private ExtentMapOutputWriter writer(int partitions) {
        return new ExtentMapOutputWriter(ID, partitions, false, memory.catalog(), memory.pool());
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

    private static byte[] random(int count) {
        byte[] bytes = new byte[count];
        new Random(count).nextBytes(bytes);
        return Arrays.copyOf(bytes, count);
    }
}
