/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.read;

import java.io.IOException;
import java.util.Optional;
import org.apache.spark.shuffle.rdma.buffers.BlockRange;
import org.apache.spark.shuffle.rdma.catalog.StoredBlock;
import org.sparkrdma.transport.wire.DirectoryEntryLayout.Entry;

/**
 * Memory in which one reduce task reads blocks of one executor where they lie: its own executor's, or a peer's.
 *
 * <p>Threading: the task's thread.
 */
interface BlockSource extends AutoCloseable {
    /** A block and the directory entry it was found by. */
    record RawBlock(BlockRange range, Entry entry, StoredBlock block) {}

    /**
     * A raw block, verified; its memory stays valid until {@link #close}. Nothing if the block is not here or is not
     * raw.
     *
     * @throws IOException if it cannot be read or its bytes are damaged
     */
    Optional<RawBlock> readRaw(BlockRange range) throws IOException;

    /**
     * Asked when the last byte of a block has been read.
     *
     * @throws IOException if the block was withdrawn meanwhile, so that its memory may have been recycled
     */
    void verifyUnchanged(RawBlock block) throws IOException;

    /** A block could not be read this way. */
    void failed(BlockRange range, Exception cause);

    /** Counts a block that was read. */
    void count(RawBlock block);

    /** Gives all memory back, when the task has ended. */
    @Override
    void close();
}
