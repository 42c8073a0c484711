/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.read;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.shuffle.rdma.buffers.BlockRange;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import scala.Tuple3;

/**
 * Neighbouring blocks of one map output that a reduce task reads from one executor.
 *
 * @param address the executor
 * @param source the executor's memory
 * @param range the partitions
 * @param blocks the same as Spark named them: block id, size, map index
 * @param broken whether the executor's memory turned out not to be readable; shared by its runs
 */
record BlockRun(
        BlockManagerId address,
        BlockSource source,
        BlockRange range,
        List<Tuple3<BlockId, Object, Object>> blocks,
        AtomicBoolean broken) {

    boolean isBroken() {
        return broken.get();
    }

    void breakSource() {
        broken.set(true);
    }

    /** The blocks of one executor as runs; nothing if one of them is not a block of a map output. */
    static List<BlockRun> of(BlockManagerId address, BlockSource source, List<Tuple3<BlockId, Object, Object>> blocks) {
        List<BlockRun> runs = new ArrayList<>();
        AtomicBoolean broken = new AtomicBoolean();
        BlockRange range = null;
        List<Tuple3<BlockId, Object, Object>> ofRun = new ArrayList<>();
        for (Tuple3<BlockId, Object, Object> block : blocks) {
            BlockRange next = BlockRange.of(block._1()).orElseThrow();
            if (range != null && next.mapId() == range.mapId() && next.start() == range.end()) {
                range = new BlockRange(range.shuffleId(), range.mapId(), range.start(), next.end(), true);
            } else {
                if (range != null) {
                    runs.add(new BlockRun(address, source, range, ofRun, broken));
                }
                range = next;
                ofRun = new ArrayList<>();
            }
            ofRun.add(block);
        }
        if (range != null) {
            runs.add(new BlockRun(address, source, range, ofRun, broken));
        }
        return runs;
    }
}
