/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.read;

import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.util.Optional;
import org.apache.spark.shuffle.rdma.buffers.BlockRange;
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

    PeerBlocks(PeerSession session, long timeoutMillis, boolean isVerifying) {
        this.session = session;
        this.slabs = SlabAccess.of(session, timeoutMillis);
        this.isVerifying = isVerifying;
    }

    /** Where the peer keeps the map output of a block; nothing if it does not have it. */
    Optional<Entry> lookup(BlockRange range) throws IOException {
        return PeerDirectory.lookup(slabs, range.shuffleId(), range.mapId());
    }

    /**
     * A block, to be closed by the caller.
     *
     * @throws IOException if it cannot be read or its bytes are damaged
     */
    StoredBlock read(BlockRange range, Entry entry) throws IOException {
        StoredBlock block = BlockReader.read(slabs, entry, range.start(), range.end());
        try {
            if (isVerifying) {
                block.verify(
                        range.blockId() + " from executor " + session.peer().executorId());
            }
            return block;
        } catch (IOException | RuntimeException e) {
            block.close();
            throw e;
        }
    }

    /**
     * Looks again after a block has been read to its end.
     *
     * @throws IOException if the peer has withdrawn it meanwhile, so that its memory may have been recycled
     */
    void verifyUnchanged(BlockRange range, Entry entry) throws IOException {
        // What was read before must not be read after the directory is looked at again.
        VarHandle.acquireFence();
        Optional<Entry> now;
        try {
            now = lookup(range);
        } catch (IOException e) {
            if (session.isAlive()) {
                throw e;
            }
            return; // A peer that has died recycles nothing, and its session is closed: what is mapped stays as it was.
        }
        if (!now.equals(Optional.of(entry))) {
            throw new IOException("block " + range.blockId() + " was withdrawn by executor "
                    + session.peer().executorId() + " while it was being read");
        }
    }
}
