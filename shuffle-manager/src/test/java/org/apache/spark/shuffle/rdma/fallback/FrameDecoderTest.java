/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.fallback;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.SparkConf;
import org.apache.spark.network.buffer.FileSegmentManagedBuffer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.network.util.TransportConf;
import org.apache.spark.shuffle.rdma.buffers.LentManagedBuffer;
import org.apache.spark.shuffle.rdma.catalog.ChecksumMismatchException;
import org.apache.spark.shuffle.rdma.catalog.ExecutorMemory;
import org.apache.spark.shuffle.rdma.compat.TransportConfs;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.transport.wire.BlockFrameLayout;

class FrameDecoderTest {
    private static final TransportConf TRANSPORT = TransportConfs.shuffle(new SparkConf(false));
    private static final byte[][] PARTITIONS = {random(3_000), {}, random(70_000), {9}};

    @TempDir
    private Path home;

    private final FrameDecoder decoder = new FrameDecoder(true, TRANSPORT);

    @Test
    void aBlockInMemoryAndOneInAFileLoseTheirFrames() throws IOException {
        byte[] frame = frame();
        for (ManagedBuffer carrier : List.of(memory(frame), file(frame))) {
            FrameDecoder.Decoded decoded = decoder.decode("block", carrier);

            assertArrayEquals(body(), decoded.block().createInputStream().readAllBytes());
            assertEquals(body().length, decoded.block().size());
            assertTrue(decoded.isOverflow());
            assertTrue(decoded.isRaw());
        }
    }

    @Test
    void theFramesBufferIsHeldAsLongAsTheBlock() throws IOException {
        AtomicInteger returned = new AtomicInteger();
        LentManagedBuffer carrier =
                new LentManagedBuffer(List.of(ByteBuffer.wrap(frame())), new LentManagedBuffer.Lender() {
                    @Override
                    public void verifyAtEnd() {}

                    @Override
                    public void giveBack() {
                        returned.incrementAndGet();
                    }
                });
        FrameDecoder.Decoded decoded = decoder.decode("block", carrier);
        carrier.release();
        assertEquals(0, returned.get());
        decoded.block().release();
        assertEquals(1, returned.get());
    }

    @Test
    void everyFlippedByteIsNoticed() throws IOException {
        byte[] frame = frame();
        Random random = new Random(3);
        for (int i = 0; i < 400; i++) {
            int at = i < 120 ? i : random.nextInt(frame.length);
            frame[at] ^= 0x10;
            assertThrows(IOException.class, () -> decoder.decode("block", memory(frame)));
            if (i % 4 == 0) {
                assertThrows(IOException.class, () -> decoder.decode("block", file(frame)));
            }
            frame[at] ^= 0x10;
        }
        frame[frame.length - 2] ^= 1;
        ChecksumMismatchException noticed =
                assertThrows(ChecksumMismatchException.class, () -> decoder.decode("shuffle_1_2_3", memory(frame)));
        assertTrue(noticed.getMessage().contains("shuffle_1_2_3 over Netty"), noticed.getMessage());
    }

    @Test
    void aFrameThatIsCutShortIsNoticed() throws IOException {
        byte[] frame = frame();
        for (int length : new int[] {0, 1, 15, 16, 40, 79, 80, 100, frame.length - 1}) {
            byte[] cut = Arrays.copyOf(frame, length);
            assertThrows(IOException.class, () -> decoder.decode("block", memory(cut)));
            assertThrows(IOException.class, () -> decoder.decode("block", file(cut)));
        }
    }

    @Test
    void aHeaderThatPromisesTheWorldTakesNoMemory() throws IOException {
        byte[] frame = frame();
        ByteBuffer header = ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
        header.putInt(8, BlockFrameLayout.MAX_PARTITIONS);
        long before = allocated();
        for (int i = 0; i < 20; i++) {
            assertThrows(IOException.class, () -> decoder.decode("block", memory(frame)));
            assertThrows(IOException.class, () -> decoder.decode("block", file(frame)));
        }
        assertTrue(allocated() - before < 50_000_000, "memory was taken for partitions that are not there");
    }

    @Test
    void lengthsWhoseSumWrapsAroundAreNoticed() {
        long quarter = 1L << 62;
        ByteBuffer header =
                BlockFrameLayout.encode(new long[] {quarter, quarter, quarter, quarter, 5}, new int[5], false, false);
        byte[] frame = new byte[header.remaining() + 5];
        header.get(frame, 0, header.remaining());

        assertThrows(IOException.class, () -> decoder.decode("block", memory(frame)));
        assertThrows(IOException.class, () -> decoder.decode("block", file(frame)));
    }

    @Test
    void withoutVerificationTheBytesAreTakenAsTheyCome() throws IOException {
        byte[] frame = frame();
        frame[frame.length - 1] ^= 1;

        FrameDecoder.Decoded decoded = new FrameDecoder(false, TRANSPORT).decode("block", memory(frame));

        assertEquals(body().length, decoded.block().size());
    }

    private static long allocated() {
        return ((com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean())
                .getThreadAllocatedBytes(Thread.currentThread().getId());
    }

    private static ManagedBuffer memory(byte[] frame) {
        return new NioManagedBuffer(ByteBuffer.wrap(frame));
    }

    /** As Spark's download: in the middle of a file. */
    private ManagedBuffer file(byte[] frame) throws IOException {
        Path file = home.resolve("download");
        byte[] padded = new byte[frame.length + 20];
        System.arraycopy(frame, 0, padded, 10, frame.length);
        Files.write(file, padded);
        return new FileSegmentManagedBuffer(TRANSPORT, file.toFile(), 10, frame.length);
    }

    private static byte[] frame() {
        ByteBuffer header = BlockFrameLayout.encode(
                Arrays.stream(PARTITIONS).mapToLong(bytes -> bytes.length).toArray(),
                Arrays.stream(PARTITIONS).mapToInt(ExecutorMemory::crc).toArray(),
                true,
                true);
        byte[] body = body();
        return ByteBuffer.allocate(header.remaining() + body.length)
                .put(header)
                .put(body)
                .array();
    }

    private static byte[] body() {
        ByteBuffer body = ByteBuffer.allocate(
                Arrays.stream(PARTITIONS).mapToInt(bytes -> bytes.length).sum());
        Arrays.stream(PARTITIONS).forEach(body::put);
        return body.array();
    }

    private static byte[] random(int count) {
        byte[] bytes = new byte[count];
        new Random(count).nextBytes(bytes);
        return bytes;
    }
}
