/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.read;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.spark.shuffle.rdma.buffers.BlockRange;
import org.apache.spark.shuffle.rdma.catalog.StoredBlock;
import org.apache.spark.shuffle.rdma.fallback.PeerName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.transport.api.PeerSession;
import org.sparkrdma.transport.wire.DirectoryEntryLayout.Entry;

/** A peer's map outputs, read through a session; what was handed out stays mapped until the task ends. */
final class PeerBlockSource implements BlockSource {
    private static final Logger LOG = LoggerFactory.getLogger(PeerBlockSource.class);

    private final PeerName peer;
    private final PeerSession session;
    private final ReadPaths paths;
    private final PeerBlocks blocks;
    private final String transport;
    private final List<StoredBlock> held = new ArrayList<>();

    PeerBlockSource(PeerName peer, ReadPaths.Open open, ReadPaths paths) {
        this.peer = peer;
        this.session = open.session();
        this.paths = paths;
        this.blocks = new PeerBlocks(session, paths.readTimeoutMillis(), paths.isVerifying());
        this.transport = open.transport();
    }

    @Override
    public Optional<RawBlock> readRaw(BlockRange range) throws IOException {
        Optional<Entry> entry = blocks.lookup(range);
        if (entry.isEmpty() || !entry.get().isRaw()) {
            return Optional.empty();
        }
        StoredBlock block = blocks.read(range, entry.get());
        held.add(block);
        return Optional.of(new RawBlock(range, entry.get(), block));
    }

    @Override
    public void verifyUnchanged(RawBlock block) throws IOException {
        blocks.verifyUnchanged(block.range(), block.entry());
    }

    @Override
    public void failed(BlockRange range, Exception cause) {
        LOG.warn("{} from {}: {}; fetched by Netty instead", range.blockId(), peer, cause.toString());
        if (!Thread.currentThread().isInterrupted()) {
            // A task that is killed says nothing about the path.
            paths.selector().markDown(peer, session, cause.toString());
        }
    }

    @Override
    public void count(RawBlock block) {
        paths.counters().direct(transport, block.block().bytes(), block.block().isOverflow());
    }

    @Override
    public void close() {
        held.forEach(StoredBlock::close);
        held.clear();
    }
}
