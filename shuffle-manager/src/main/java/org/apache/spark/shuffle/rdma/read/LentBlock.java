/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.read;

import java.io.IOException;
import org.apache.spark.shuffle.rdma.buffers.BlockRange;
import org.apache.spark.shuffle.rdma.buffers.LentManagedBuffer;
import org.apache.spark.shuffle.rdma.catalog.StoredBlock;
import org.sparkrdma.transport.wire.DirectoryEntryLayout.Entry;

/** Holds a peer's memory for a block that Spark's reader reads, and notices if the peer recycled it meanwhile. */
record LentBlock(PeerBlocks peer, BlockRange range, Entry entry, StoredBlock block)
        implements LentManagedBuffer.Lender {
    LentManagedBuffer buffer() {
        return new LentManagedBuffer(block.slices(), this);
    }

    @Override
    public void verifyAtEnd() throws IOException {
        peer.verifyUnchanged(range, entry);
    }

    @Override
    public void giveBack() {
        block.close();
    }
}
