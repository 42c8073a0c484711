/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.serializer.SerializerManager;
import org.apache.spark.shuffle.rdma.buffers.BlockRange;
import org.apache.spark.shuffle.rdma.buffers.LazyManagedBuffer;
import org.apache.spark.shuffle.rdma.buffers.LentManagedBuffer;
import org.apache.spark.shuffle.rdma.catalog.MapOutput;
import org.apache.spark.shuffle.rdma.catalog.StoredBlock;
import org.apache.spark.storage.BlockId;
import org.apache.spark.util.io.ChunkedByteBuffer;
import org.apache.spark.util.io.ChunkedByteBufferOutputStream;
import org.sparkrdma.transport.wire.BlockFrameLayout;
import scala.Function1;

/**
 * Blocks as they leave this executor by Netty: framed for executors of this plugin, plain for Spark's own reader; raw
 * ones compressed on the way out where Spark is told to compress its shuffles.
 */
final class OutgoingBlocks {
    private static final int CHUNK_BYTES = 1 << 20;

    private final boolean isCompressingRaw;
    private final boolean isSparkCompressing;

    /**
     * @param isCompressingRaw whether raw blocks leave compressed in frames too
     * @param isSparkCompressing whether Spark's own reader expects compressed blocks
     */
    OutgoingBlocks(boolean isCompressingRaw, boolean isSparkCompressing) {
        this.isCompressingRaw = isCompressingRaw;
        this.isSparkCompressing = isSparkCompressing;
    }

    /** A block with its checksums in front. The map output is released with the answer. */
    ManagedBuffer framed(BlockRange range, MapOutput output, StoredBlock block, SerializerManager streams) {
        Runnable use = Lenders.oneUse(output);
        if (output.entry().isRaw() && isCompressingRaw) {
            return Lenders.untilForgotten(
                    new LazyManagedBuffer(() -> compressedFrame(range, block, streams), use), use);
        }
        ManagedBuffer frame = frame(
                block,
                block.lengths(),
                block.crcs(),
                block.slices(),
                output.entry().isRaw(),
                Lenders.of(use));
        return Lenders.untilForgotten(frame, use);
    }

    /**
     * A block as Spark's own reader takes it by Netty; as a stream, which is how a thread of this executor that has no
     * task reads it, as it lies here. The map output is released with the answer.
     */
    ManagedBuffer plain(BlockRange range, MapOutput output, StoredBlock block, SerializerManager streams)
            throws IOException {
        block.verify(range.blockId() + " of this executor");
        Runnable use = Lenders.oneUse(output);
        LentManagedBuffer here = new LentManagedBuffer(block.slices(), Lenders.of(use));
        if (output.entry().isRaw() && isSparkCompressing) {
            return Lenders.untilForgotten(
                    new LazyManagedBuffer(
                            () -> new LentManagedBuffer(compress(range, block, streams), Lenders.NOBODY),
                            here::createInputStream,
                            here::release),
                    use);
        }
        return Lenders.untilForgotten(here, use);
    }

    private static ManagedBuffer compressedFrame(BlockRange range, StoredBlock block, SerializerManager streams)
            throws IOException {
        // The bytes change their form here, so their checksums are compared now and made anew.
        block.verify(range.blockId() + " of this executor");
        List<ByteBuffer> compressed = compress(range, block, streams);
        CRC32C crc = new CRC32C();
        compressed.forEach(part -> crc.update(part.duplicate()));
        long length = compressed.stream().mapToLong(ByteBuffer::remaining).sum();
        return frame(block, new long[] {length}, new int[] {(int) crc.getValue()}, compressed, false, Lenders.NOBODY);
    }

    private static ManagedBuffer frame(
            StoredBlock block,
            long[] lengths,
            int[] crcs,
            List<ByteBuffer> body,
            boolean isRaw,
            LentManagedBuffer.Lender lender) {
        List<ByteBuffer> slices = new ArrayList<>(body.size() + 1);
        slices.add(BlockFrameLayout.encode(lengths, crcs, block.isOverflow(), isRaw));
        slices.addAll(body);
        return new LentManagedBuffer(slices, lender);
    }

    private static List<ByteBuffer> compress(BlockRange range, StoredBlock block, SerializerManager streams)
            throws IOException {
        Function1<Object, ByteBuffer> allocator = size -> ByteBuffer.allocate((Integer) size);
        ChunkedByteBufferOutputStream chunks = new ChunkedByteBufferOutputStream(CHUNK_BYTES, allocator);
        try (OutputStream out = streams.wrapStream(BlockId.apply(range.blockId()), chunks);
                WritableByteChannel channel = Channels.newChannel(out)) {
            for (ByteBuffer slice : block.slices()) {
                channel.write(slice.duplicate());
            }
        }
        ChunkedByteBuffer compressed = chunks.toChunkedByteBuffer();
        return Arrays.asList(compressed.getChunks());
    }
}
