/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.fallback;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.shuffle.rdma.buffers.BlockRange;
import org.sparkrdma.transport.api.PeerEndpoint;

/**
 * Asks a peer for its endpoint through Spark's own block transfer, which authenticates and encrypts it as Spark is told
 * to.
 */
public final class Bootstrap {
    private final BlockStoreClient transfer;
    private final Duration timeout;

    /**
     * @param transfer Spark's own block transfer
     * @param timeout longest wait for an answer
     */
    public Bootstrap(BlockStoreClient transfer, Duration timeout) {
        this.transfer = transfer;
        this.timeout = timeout;
    }

    /** The peer's endpoint; nothing if it has no memory to read yet. */
    public Optional<PeerEndpoint> ask(PeerName peer) throws IOException {
        CompletableFuture<ByteBuffer> answer = new CompletableFuture<>();
        transfer.fetchBlocks(
                peer.host(),
                peer.port(),
                peer.executorId(),
                new String[] {BlockRange.BOOTSTRAP},
                new BlockFetchingListener() {
                    @Override
                    public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
                        try {
                            ByteBuffer bytes = data.nioByteBuffer();
                            ByteBuffer copy = ByteBuffer.allocate(bytes.remaining());
                            answer.complete(copy.put(bytes).flip());
                        } catch (IOException | RuntimeException e) {
                            answer.completeExceptionally(e);
                        }
                    }

                    @Override
                    public void onBlockFetchFailure(String blockId, Throwable cause) {
                        answer.completeExceptionally(cause);
                    }
                },
                null);
        try {
            return BootstrapAnswer.decode(answer.get(timeout.toMillis(), TimeUnit.MILLISECONDS));
        } catch (ExecutionException e) {
            throw new IOException(
                    peer + " did not answer the bootstrap: " + e.getCause().getMessage(), e.getCause());
        } catch (TimeoutException e) {
            throw new IOException(peer + " did not answer the bootstrap within spark.shuffle.rdma.bootstrap.timeout="
                    + timeout.toMillis() + "ms");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while waiting for the bootstrap of " + peer, e);
        }
    }
}
