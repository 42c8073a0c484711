/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.fallback;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.shuffle.rdma.buffers.BlockRange;
import org.apache.spark.shuffle.rdma.catalog.ExecutorMemory;
import org.apache.spark.shuffle.rdma.catalog.MapOutput;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog.MapOutputId;
import org.apache.spark.shuffle.rdma.catalog.StoredBlock;
import org.sparkrdma.transport.wire.BlockFrameLayout;

/** Spark's block transfer without a network: answers at once, in the caller's thread, by a function of the block id. */
public final class FakeTransfer extends BlockStoreClient {
    private final Server server;
    private final List<String> asked = new ArrayList<>();

    /** Answers a block, or nothing to stay silent, or throws. */
    @FunctionalInterface
    public interface Server {
        Optional<ManagedBuffer> block(String blockId) throws Exception;
    }

    public FakeTransfer(Server server) {
        this.server = server;
    }

    /** A peer of this plugin: answers the bootstrap, and frames. */
    public static FakeTransfer of(ExecutorMemory peer) {
        return new FakeTransfer(blockId -> {
            if (blockId.equals(BlockRange.BOOTSTRAP)) {
                return Optional.of(new NioManagedBuffer(
                        BootstrapAnswer.encode(Optional.of(peer.catalog().endpoint()))));
            }
            return Optional.of(new NioManagedBuffer(frame(peer, blockId)));
        });
    }

    /** What a peer of this plugin answers to a framed block id. */
    public static ByteBuffer frame(ExecutorMemory peer, String framedId) throws Exception {
        BlockRange range = BlockRange.parse(framedId).orElseThrow().unframed();
        MapOutput output = peer.catalog()
                .acquire(new MapOutputId(range.shuffleId(), range.mapId()))
                .orElseThrow(() -> new IllegalStateException("no such map output"));
        try {
            StoredBlock block = peer.catalog().read(output, range.start(), range.end());
            ByteBuffer header = BlockFrameLayout.encode(block.lengths(), block.crcs(), block.isOverflow(), false);
            byte[] body = ExecutorMemory.bytes(block.slices());
            return ByteBuffer.allocate(header.remaining() + body.length)
                    .put(header)
                    .put(body)
                    .flip();
        } finally {
            output.release();
        }
    }

    /** Block ids asked for so far, but for the bootstrap. */
    public synchronized List<String> asked() {
        return asked.stream().filter(id -> !id.equals(BlockRange.BOOTSTRAP)).toList();
    }

    @Override
    public void fetchBlocks(
            String host,
            int port,
            String executorId,
            String[] blockIds,
            BlockFetchingListener listener,
            DownloadFileManager downloads) {
        for (String blockId : blockIds) {
            synchronized (this) {
                asked.add(blockId);
            }
            Optional<ManagedBuffer> answer;
            try {
                answer = server.block(blockId);
            } catch (Exception e) {
                listener.onBlockFetchFailure(blockId, e);
                continue;
            }
            answer.ifPresent(block -> {
                listener.onBlockFetchSuccess(blockId, block);
                block.release();
            });
        }
    }

    @Override
    public void close() {}
}
