/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.read;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.apache.spark.shuffle.rdma.buffers.BlockRange;

/**
 * Which of the blocks that Spark's reader gets are raw: serialized records as they are, not to be decompressed.
 *
 * <p>Threading: blocks are delivered by several threads and read by the task's.
 */
final class RawBlocks {
    private final Map<String, Boolean> fetched = new ConcurrentHashMap<>();
    private final Predicate<BlockRange> isOwnRaw;

    /**
     * @param isOwnRaw tells it of a block that this executor wrote itself
     */
    RawBlocks(Predicate<BlockRange> isOwnRaw) {
        this.isOwnRaw = isOwnRaw;
    }

    /** Says of a block, before it is delivered, whether it is raw. */
    void fetched(String blockId, boolean isRaw) {
        fetched.put(blockId, isRaw);
    }

    /** Whether a block is raw. */
    boolean isRaw(String blockId) {
        Boolean known = fetched.get(blockId);
        return known != null
                ? known
                : BlockRange.parse(blockId).filter(isOwnRaw).isPresent();
    }
}
