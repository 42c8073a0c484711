/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.buffers;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.channel.FileRegion;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import org.apache.spark.network.protocol.ChunkFetchSuccess;
import org.apache.spark.network.protocol.MessageEncoder;
import org.apache.spark.network.protocol.StreamChunkId;
import org.apache.spark.network.util.ByteArrayWritableChannel;
import org.junit.jupiter.api.Test;

class LentManagedBufferTest {
    private final AtomicInteger returned = new AtomicInteger();
    private final AtomicInteger verified = new AtomicInteger();
    private final LentManagedBuffer.Lender lender = new LentManagedBuffer.Lender() {
        @Override
        public void verifyAtEnd() {
            verified.incrementAndGet();
        }

        @Override
        public void giveBack() {
            returned.incrementAndGet();
        }
    };

    @Test
    void theMemoryGoesBackOnceWhenTheLastUserLetsGo() {
        LentManagedBuffer buffer = of(100);
        buffer.retain();
        buffer.retain();

        buffer.release();
        buffer.release();
        assertEquals(0, returned.get());
        buffer.release();
        assertEquals(1, returned.get());
        buffer.release();
        assertEquals(1, returned.get());
    }

    @Test
    void memoryThatWasGivenBackIsNeitherUsedNorTakenAgain() {
        LentManagedBuffer buffer = of(100);
        buffer.release();

        // Spark takes an IOException of createInputStream for a fault of a file, and asserts that there is one.
        assertThrows(IllegalStateException.class, buffer::createInputStream);
        assertThrows(IllegalStateException.class, buffer::nioByteBuffer);
        assertThrows(IllegalStateException.class, buffer::convertToNetty);
        assertThrows(IllegalStateException.class, buffer::convertToNettyForSsl);
        assertThrows(IllegalStateException.class, buffer::retain);
        assertEquals(1, returned.get());
    }

    @Test
    void oneBufferHoldsTheBytesOfOneOrSeveralOrNoSlices() throws IOException {
        for (int[] lengths : new int[][] {{}, {0}, {5}, {3, 0, 4}, {100_000, 1, 70_000}}) {
            ByteBuffer whole = of(lengths).nioByteBuffer();

            byte[] found = new byte[whole.remaining()];
            whole.get(found);
            assertArrayEquals(expected(lengths), found);
        }
    }

    @Test
    void theSlicesOfTheOwnerKeepTheirPositions() throws IOException {
        LentManagedBuffer buffer = of(10, 10);
        for (int i = 0; i < 2; i++) {
            assertArrayEquals(expected(10, 10), buffer.createInputStream().readAllBytes());
            assertEquals(20, ((ByteBuf) buffer.convertToNetty()).readableBytes());
            assertEquals(20, buffer.nioByteBuffer().remaining());
        }
    }

    @Test
    void nettySendsTheSameBytes() throws IOException {
        for (int[] lengths : new int[][] {{1}, {300_000}, {200_000, 3, 400_000, 100_000}, {1_000_000, 1_000_000}}) {
            LentManagedBuffer buffer = of(lengths);
            EmbeddedChannel channel = new EmbeddedChannel(MessageEncoder.INSTANCE);
            channel.writeOutbound(new ChunkFetchSuccess(new StreamChunkId(1, 0), buffer.retain()));
            FileRegion message = channel.readOutbound();
            ByteArrayWritableChannel sent = new ByteArrayWritableChannel((int) message.count());
            while (message.transferred() < message.count()) {
                message.transferTo(sent, message.transferred());
            }
            int headerBytes = (int) (message.count() - buffer.size());
            assertArrayEquals(
                    expected(lengths), Arrays.copyOfRange(sent.getData(), headerBytes, (int) message.count()));
            message.release();

            ByteBuf body = (ByteBuf) buffer.convertToNettyForSsl();
            byte[] found = new byte[body.readableBytes()];
            body.readBytes(found);
            assertArrayEquals(expected(lengths), found);
            buffer.release();
        }
        assertEquals(4, returned.get());
    }

    @Test
    void aChannelThatWritesPartiallyGetsEveryByteOnce() throws IOException {
        int[] lengths = {10, 0, 3_000_000, 17, 1_500_000};
        SlicesFileRegion region = new SlicesFileRegion(slices(lengths), 4_500_027);
        CRC32C found = new CRC32C();
        Stingy channel = new Stingy(found);

        while (region.transferred() < region.count()) {
            long before = region.transferred();
            long written = region.transferTo(channel, region.transferred());
            assertEquals(region.transferred(), before + written);
        }

        CRC32C expected = new CRC32C();
        expected.update(expected(lengths));
        assertEquals(expected.getValue(), found.getValue());
        assertThrows(IllegalArgumentException.class, () -> region.transferTo(channel, 5));
    }

    @Test
    void moreThanTwoGibibytesGoAsAFileRegion() throws IOException {
        int slices = 2_100;
        ByteBuffer mebibyte = slices(1 << 20).get(0);
        CRC32C expected = new CRC32C();
        for (int i = 0; i < slices; i++) {
            expected.update(mebibyte.duplicate());
        }
        LentManagedBuffer buffer = new LentManagedBuffer(Collections.nCopies(slices, mebibyte), lender);
        assertEquals((long) slices << 20, buffer.size());
        assertThrows(IOException.class, buffer::nioByteBuffer);

        FileRegion region = (FileRegion) buffer.convertToNetty();
        CRC32C found = new CRC32C();
        Stingy channel = new Stingy(found);
        while (region.transferred() < region.count()) {
            region.transferTo(channel, region.transferred());
        }

        assertEquals(expected.getValue(), found.getValue());
        assertEquals(Integer.MAX_VALUE, buffer.createInputStream().available());
        assertInstanceOf(InputStream.class, buffer.convertToNettyForSsl());
    }

    @Test
    void aStreamReadsSkipsAndTellsWhatIsLeft() throws IOException {
        byte[] expected = expected(5, 0, 70_000, 3);
        InputStream in = of(5, 0, 70_000, 3).createInputStream();

        assertEquals(70_008, in.available());
        assertEquals(expected[0] & 0xff, in.read());
        assertEquals(0, in.read(new byte[0], 0, 0));
        assertEquals(10_000, in.skip(10_000));
        assertEquals(60_007, in.available());
        assertArrayEquals(Arrays.copyOfRange(expected, 10_001, 70_008), in.readAllBytes());
        assertEquals(0, in.skip(1));
        assertEquals(0, in.skip(-1));
        assertEquals(-1, in.read());
        assertEquals(-1, in.read(new byte[1], 0, 1));
        assertEquals(0, in.available());
        assertEquals(1, verified.get());
    }

    @Test
    void aFailedCheckAtTheEndReachesTheReader() throws IOException {
        LentManagedBuffer buffer = new LentManagedBuffer(slices(10), new LentManagedBuffer.Lender() {
            @Override
            public void verifyAtEnd() throws IOException {
                throw new IOException("withdrawn");
            }

            @Override
            public void giveBack() {}
        });

        InputStream in = buffer.createInputStream();
        assertEquals(10, in.readNBytes(10).length);
        assertEquals("withdrawn", assertThrows(IOException.class, in::read).getMessage());
        assertTrue(assertThrows(IOException.class, in::read).getMessage().contains("withdrawn"));
    }

    private LentManagedBuffer of(int... lengths) {
        return new LentManagedBuffer(slices(lengths), lender);
    }

    private static List<ByteBuffer> slices(int... lengths) {
        ByteBuffer all = ByteBuffer.wrap(expected(lengths));
        List<ByteBuffer> slices = new ArrayList<>();
        int at = 0;
        for (int length : lengths) {
            ByteBuffer slice = ByteBuffer.allocateDirect(length);
            slice.put(0, all, at, length);
            slices.add(slice.asReadOnlyBuffer());
            at += length;
        }
        return slices;
    }

    private static byte[] expected(int... lengths) {
        byte[] bytes = new byte[Arrays.stream(lengths).sum()];
        new Random(lengths.length).nextBytes(bytes);
        return bytes;
    }

    /** Takes little at a time, and now and then nothing. */
    private static final class Stingy implements WritableByteChannel {
        private final Checksum bytes;
        private int calls;

        Stingy(Checksum bytes) {
            this.bytes = bytes;
        }

        @Override
        public int write(ByteBuffer source) {
            int count = Math.min(source.remaining(), calls++ % 3 == 0 ? 0 : 999_983);
            bytes.update(source.slice(source.position(), count));
            source.position(source.position() + count);
            return count;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {}
    }
}
