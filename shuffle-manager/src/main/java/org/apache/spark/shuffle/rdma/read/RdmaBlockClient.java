/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.read;

import com.codahale.metrics.MetricSet;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.checksum.Cause;
import org.apache.spark.shuffle.rdma.buffers.BlockRange;
import org.apache.spark.shuffle.rdma.catalog.StoredBlock;
import org.apache.spark.shuffle.rdma.fallback.NettyPath;
import org.apache.spark.shuffle.rdma.fallback.PeerName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.transport.wire.DirectoryEntryLayout.Entry;

/**
 * The block client that Spark's reader uses in one reduce task: each peer's blocks by the best path to that peer; what
 * cannot be read that way goes by Netty within the same call.
 *
 * <p>Threading: the task's thread fetches; blocks by Netty are delivered on Spark's network threads.
 */
final class RdmaBlockClient extends BlockStoreClient {
    private static final Logger LOG = LoggerFactory.getLogger(RdmaBlockClient.class);

    private final ReadPaths paths;
    private final PathLedger ledger;
    private final RawBlocks raw;

    RdmaBlockClient(ReadPaths paths, PathLedger ledger, RawBlocks raw) {
        this.paths = paths;
        this.raw = raw;
        this.ledger = ledger;
    }

    @Override
    public void fetchBlocks(
            String host,
            int port,
            String executorId,
            String[] blockIds,
            BlockFetchingListener listener,
            DownloadFileManager downloads) {
        PeerName peer = new PeerName(executorId, host, port);
        List<BlockRange> ranges = Arrays.stream(blockIds)
                .map(BlockRange::parse)
                .flatMap(Optional::stream)
                .filter(BlockRange::canBeFramed)
                .toList();
        if (ranges.size() < blockIds.length) {
            // Not all are blocks of map outputs of ours: whatever they are, Spark knows.
            paths.transfer().fetchBlocks(host, port, executorId, blockIds, listener, downloads);
            return;
        }
        Optional<ReadPaths.Open> open = paths.open(peer);
        List<BlockRange> rest = open.isEmpty() ? ranges : readDirect(peer, open.get(), ranges, listener);
        if (!rest.isEmpty()) {
            paths.netty().fetch(peer, rest, new Deliver(listener), downloads);
        }
    }

    /** Reads what it can and answers the rest. */
    private List<BlockRange> readDirect(
            PeerName peer, ReadPaths.Open open, List<BlockRange> ranges, BlockFetchingListener listener) {
        PeerBlocks blocks = new PeerBlocks(open.session(), paths.readTimeoutMillis(), paths.isVerifying());
        List<BlockRange> rest = new ArrayList<>();
        for (int i = 0; i < ranges.size(); i++) {
            BlockRange range = ranges.get(i);
            Optional<Entry> entry;
            StoredBlock block = null;
            try {
                entry = blocks.lookup(range);
                if (entry.isPresent()) {
                    block = blocks.read(range, entry.get());
                }
            } catch (IOException | RuntimeException e) {
                LOG.warn("{} from {}: {}; fetched by Netty instead", range.blockId(), peer, e.toString());
                if (!Thread.currentThread().isInterrupted()) {
                    // A task that is killed says nothing about the path.
                    paths.selector().markDown(peer, open.session(), e.toString());
                }
                rest.addAll(ranges.subList(i, ranges.size()));
                return rest;
            }
            if (block == null) {
                rest.add(range);
                continue;
            }
            ManagedBuffer buffer = new LentBlock(blocks, range, entry.get(), block).buffer();
            try {
                paths.counters().direct(open.transport(), buffer.size(), block.isOverflow());
                raw.fetched(range.blockId(), entry.get().isRaw());
                ledger.deliver(true, () -> listener.onBlockFetchSuccess(range.blockId(), buffer));
            } finally {
                buffer.release();
            }
        }
        return rest;
    }

    @Override
    public Cause diagnoseCorruption(
            String host,
            int port,
            String executorId,
            int shuffleId,
            long mapId,
            int reduceId,
            long checksum,
            String algorithm) {
        return paths.transfer()
                .diagnoseCorruption(host, port, executorId, shuffleId, mapId, reduceId, checksum, algorithm);
    }

    @Override
    public void getHostLocalDirs(
            String host,
            int port,
            String[] executorIds,
            CompletableFuture<java.util.Map<String, String[]>> hostLocalDirs) {
        paths.transfer().getHostLocalDirs(host, port, executorIds, hostLocalDirs);
    }

    @Override
    public MetricSet shuffleMetrics() {
        return paths.transfer().shuffleMetrics();
    }

    @Override
    public void close() {
        // Paths belong to the executor, not to the task.
    }

    private final class Deliver implements NettyPath.Receiver {
        private final BlockFetchingListener listener;

        Deliver(BlockFetchingListener listener) {
            this.listener = listener;
        }

        @Override
        public void arrived(BlockRange range, ManagedBuffer block, boolean isOverflow, boolean isRaw) {
            paths.counters().netty(block.size(), isOverflow);
            raw.fetched(range.blockId(), isRaw);
            ledger.deliver(false, () -> listener.onBlockFetchSuccess(range.blockId(), block));
        }

        @Override
        public void failed(BlockRange range, Throwable cause) {
            listener.onBlockFetchFailure(range.blockId(), cause);
        }
    }
}
