/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.fallback;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.zip.CRC32C;
import org.apache.spark.network.buffer.FileSegmentManagedBuffer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.util.TransportConf;
import org.apache.spark.shuffle.rdma.buffers.LentManagedBuffer;
import org.apache.spark.shuffle.rdma.catalog.ChecksumMismatchException;
import org.apache.spark.shuffle.rdma.catalog.StoredBlock;
import org.sparkrdma.transport.wire.BlockFrameLayout;
import org.sparkrdma.transport.wire.TornReadException;

/** Takes the frame off a block that came over Spark's block transfer, and verifies the bytes behind it. */
final class FrameDecoder {
    private static final int READ_BYTES = 1 << 16;

    private final boolean isVerifying;
    private final TransportConf transportConf;

    /** What was in a frame. */
    record Decoded(ManagedBuffer block, boolean isOverflow, boolean isRaw) {}

    FrameDecoder(boolean isVerifying, TransportConf transportConf) {
        this.isVerifying = isVerifying;
        this.transportConf = transportConf;
    }

    /**
     * The block in a frame. It keeps the frame's buffer until it is itself released.
     *
     * @throws ChecksumMismatchException if the bytes are damaged
     */
    Decoded decode(String blockId, ManagedBuffer frame) throws IOException {
        return frame instanceof FileSegmentManagedBuffer file
                ? decodeFile(blockId, file)
                : decodeMemory(blockId, frame);
    }

    private Decoded decodeMemory(String blockId, ManagedBuffer frame) throws IOException {
        ByteBuffer bytes = frame.nioByteBuffer().slice();
        if (bytes.remaining() < BlockFrameLayout.FIXED_BYTES) {
            throw new TornReadException("block " + blockId + " came as a frame of " + bytes.remaining() + " bytes");
        }
        int headerBytes = headerBytes(blockId, bytes, bytes.remaining());
        ByteBuffer header = bytes.slice(0, headerBytes);
        BlockFrameLayout.verify(header);
        ByteBuffer body = bytes.slice(headerBytes, bytes.remaining() - headerBytes);
        Partitions partitions = Partitions.of(header, blockId, body.remaining());
        if (isVerifying) {
            StoredBlock.verify(blockId + " over Netty", List.of(body), partitions.lengths(), partitions.crcs());
        }
        frame.retain();
        LentManagedBuffer.Lender lender = new LentManagedBuffer.Lender() {
            @Override
            public void verifyAtEnd() {
                // The bytes are this process's own copy.
            }

            @Override
            public void giveBack() {
                frame.release();
            }
        };
        return new Decoded(
                new LentManagedBuffer(List.of(body), lender),
                BlockFrameLayout.isOverflow(header),
                BlockFrameLayout.isRaw(header));
    }

    /** Large blocks come as files in Spark's local directories, which Spark deletes with the task. */
    private Decoded decodeFile(String blockId, FileSegmentManagedBuffer frame) throws IOException {
        try (InputStream raw = frame.createInputStream();
                DataInputStream in = new DataInputStream(raw)) {
            byte[] fixed = in.readNBytes(BlockFrameLayout.FIXED_BYTES);
            if (fixed.length < BlockFrameLayout.FIXED_BYTES) {
                throw new TornReadException("block " + blockId + " came as a frame of " + fixed.length + " bytes");
            }
            int headerBytes = headerBytes(blockId, ByteBuffer.wrap(fixed), frame.size());
            ByteBuffer header = ByteBuffer.allocate(headerBytes);
            header.put(fixed).put(in.readNBytes(headerBytes - fixed.length));
            if (header.hasRemaining()) {
                throw new TornReadException("the frame of block " + blockId + " ends within its header");
            }
            header.flip();
            BlockFrameLayout.verify(header);
            long bodyBytes = frame.size() - headerBytes;
            Partitions partitions = Partitions.of(header, blockId, bodyBytes);
            if (isVerifying) {
                verify(blockId, in, partitions);
            }
            FileSegmentManagedBuffer block = new FileSegmentManagedBuffer(
                    transportConf, frame.getFile(), frame.getOffset() + headerBytes, bodyBytes);
            return new Decoded(block, BlockFrameLayout.isOverflow(header), BlockFrameLayout.isRaw(header));
        }
    }

    private static int headerBytes(String blockId, ByteBuffer fixed, long frameBytes) throws TornReadException {
        int bytes = BlockFrameLayout.headerBytes(BlockFrameLayout.partitions(fixed));
        if (bytes > frameBytes) {
            throw new TornReadException("the frame of block " + blockId + " ends within its header");
        }
        return bytes;
    }

    private static void verify(String blockId, InputStream in, Partitions partitions) throws IOException {
        byte[] bytes = new byte[READ_BYTES];
        for (int i = 0; i < partitions.lengths().length; i++) {
            CRC32C crc = new CRC32C();
            long left = partitions.lengths()[i];
            while (left > 0) {
                int count = in.read(bytes, 0, (int) Math.min(bytes.length, left));
                if (count < 0) {
                    throw new TornReadException("the file of block " + blockId + " ends early");
                }
                crc.update(bytes, 0, count);
                left -= count;
            }
            if ((int) crc.getValue() != partitions.crcs()[i]) {
                throw new ChecksumMismatchException(
                        blockId + " over Netty", partitions.crcs()[i], (int) crc.getValue());
            }
        }
    }

    private record Partitions(long[] lengths, int[] crcs) {
        static Partitions of(ByteBuffer header, String blockId, long bodyBytes) throws TornReadException {
            int count = BlockFrameLayout.partitions(header);
            long[] lengths = new long[count];
            int[] crcs = new int[count];
            long sum = 0;
            for (int i = 0; i < count; i++) {
                lengths[i] = BlockFrameLayout.length(header, i);
                crcs[i] = BlockFrameLayout.crc32c(header, i);
                if (lengths[i] > bodyBytes - sum) {
                    throw new TornReadException("the frame of block " + blockId + " promises more than the " + bodyBytes
                            + " bytes it holds");
                }
                sum += lengths[i];
            }
            if (sum != bodyBytes) {
                throw new TornReadException(
                        "the frame of block " + blockId + " promises " + sum + " bytes and holds " + bodyBytes);
            }
            return new Partitions(lengths, crcs);
        }
    }
}
