/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.fallback;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.util.TransportConf;
import org.apache.spark.shuffle.rdma.buffers.BlockRange;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fetches blocks by Spark's own block transfer, framed, so that their checksums travel with them and are verified here.
 * A block whose bytes are damaged is fetched once more; if it is damaged again it fails, and Spark computes it anew.
 */
public final class NettyPath {
    private static final Logger LOG = LoggerFactory.getLogger(NettyPath.class);
    private static final int ATTEMPTS = 2;

    private final BlockStoreClient transfer;
    private final FrameDecoder decoder;

    /**
     * @param transfer Spark's own block transfer
     * @param isVerifying whether checksums are verified
     * @param transportConf Spark's settings for reading downloaded files
     */
    public NettyPath(BlockStoreClient transfer, boolean isVerifying, TransportConf transportConf) {
        this.transfer = transfer;
        this.decoder = new FrameDecoder(isVerifying, transportConf);
    }

    /** Where fetched blocks go. */
    public interface Receiver {
        /** A block has arrived and is whole; it is released after the call. */
        void arrived(BlockRange range, ManagedBuffer block, boolean isOverflow, boolean isRaw);

        /** A block could not be fetched. */
        void failed(BlockRange range, Throwable cause);
    }

    /** Starts to fetch blocks; answers come on Spark's network threads. */
    public void fetch(PeerName peer, Collection<BlockRange> ranges, Receiver receiver, DownloadFileManager downloads) {
        fetch(peer, ranges, receiver, downloads, 1);
    }

    private void fetch(
            PeerName peer,
            Collection<BlockRange> ranges,
            Receiver receiver,
            DownloadFileManager downloads,
            int attempt) {
        List<BlockRange> asked = ranges.stream().map(BlockRange::framed).toList();
        var byId = asked.stream().collect(Collectors.toMap(BlockRange::blockId, Function.identity()));
        transfer.fetchBlocks(
                peer.host(),
                peer.port(),
                peer.executorId(),
                asked.stream().map(BlockRange::blockId).toArray(String[]::new),
                new BlockFetchingListener() {
                    @Override
                    public void onBlockFetchSuccess(String blockId, ManagedBuffer frame) {
                        BlockRange range = byId.get(blockId).unframed();
                        FrameDecoder.Decoded decoded;
                        try {
                            decoded = decoder.decode(range.blockId(), frame);
                        } catch (IOException | RuntimeException e) {
                            damaged(range, e);
                            return;
                        } catch (OutOfMemoryError e) {
                            // Unanswered, the block would be waited for without end.
                            receiver.failed(range, e);
                            return;
                        }
                        try {
                            receiver.arrived(range, decoded.block(), decoded.isOverflow(), decoded.isRaw());
                        } finally {
                            decoded.block().release();
                        }
                    }

                    @Override
                    public void onBlockFetchFailure(String blockId, Throwable cause) {
                        receiver.failed(byId.get(blockId).unframed(), cause);
                    }

                    private void damaged(BlockRange range, Exception cause) {
                        LOG.warn(
                                "{} from {}, attempt {} of {}: {}",
                                range.blockId(),
                                peer,
                                attempt,
                                ATTEMPTS,
                                cause.getMessage());
                        if (attempt < ATTEMPTS) {
                            fetch(peer, List.of(range), receiver, downloads, attempt + 1);
                        } else {
                            receiver.failed(range, cause);
                        }
                    }
                },
                downloads);
    }
}
