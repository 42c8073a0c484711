/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.read;

import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.util.Optional;
import org.apache.spark.shuffle.rdma.buffers.BlockRange;
import org.apache.spark.shuffle.rdma.buffers.LentManagedBuffer;
import org.apache.spark.shuffle.rdma.catalog.BlockReader;
import org.apache.spark.shuffle.rdma.catalog.PeerDirectory;
import org.apache.spark.shuffle.rdma.catalog.SlabAccess;
import org.apache.spark.shuffle.rdma.catalog.StoredBlock;
import org.sparkrdma.transport.api.PeerSession;
import org.sparkrdma.transport.wire.DirectoryEntryLayout.Entry;

/** Reads blocks of one peer through a session: directory, index, data; verified before they are handed on. */
final class PeerBlocks {
    private final PeerSession session;
    private final SlabAccess slabs;
    private final boolean isVerifying;

    /** A block as Spark takes it, and whether some of it lay in overflow files. */
    record Fetched(LentManagedBuffer buffer, boolean isOverflow) {}

    PeerBlocks(PeerSession session, long timeoutMillis, boolean isVerifying) {
        this.session = session;
        this.slabs = SlabAccess.of(session, timeoutMillis);
        this.isVerifying = isVerifying;
    }

    /**
     * A block; nothing if the peer does not have it in its memory.
     *
     * @throws IOException if it cannot be read or its bytes are damaged
     */
    Optional<Fetched> read(BlockRange range) throws IOException {
        Optional<Entry> entry = PeerDirectory.lookup(slabs, range.shuffleId(), range.mapId());
        if (entry.isEmpty()) {
            return Optional.empty();
        }
        StoredBlock block = BlockReader.read(slabs, entry.get(), range.start(), range.end());
        try {
            if (isVerifying) {
                block.verify(
                        range.blockId() + " from executor " + session.peer().executorId());
            }
            return Optional.of(new Fetched(
                    new LentManagedBuffer(block.slices(), new Lender(range, entry.get(), block)), block.isOverflow()));
        } catch (IOException | RuntimeException e) {
            block.close();
            throw e;
        }
    }

    /** Holds the peer's memory for a block, and notices if the peer recycled it while it was read. */
    private final class Lender implements LentManagedBuffer.Lender {
        private final BlockRange range;
        private final Entry entry;
        private final StoredBlock block;

        Lender(BlockRange range, Entry entry, StoredBlock block) {
            this.range = range;
            this.entry = entry;
            this.block = block;
        }

        @Override
        public void verifyAtEnd() throws IOException {
            // What was read before must not be read after the directory is looked at again.
            VarHandle.acquireFence();
            if (session.isAlive()
                    && !PeerDirectory.lookup(slabs, range.shuffleId(), range.mapId())
                            .equals(Optional.of(entry))) {
                throw new IOException("block " + range.blockId() + " was withdrawn by executor "
                        + session.peer().executorId() + " while it was being read");
            }
        }

        @Override
        public void giveBack() {
            block.close();
        }
    }
}
