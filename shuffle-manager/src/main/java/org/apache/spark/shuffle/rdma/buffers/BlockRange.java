/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.buffers;

import java.util.Optional;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleBlockBatchId;
import org.apache.spark.storage.ShuffleBlockId;

/**
 * A run of reduce partitions of one map output: a shuffle block, or a batch of neighbours.
 *
 * <p>Shuffle ids from {@value #FRAMED_BASE} on never belong to shuffles (Spark counts from 0): the same run asked for
 * under {@code FRAMED_BASE + shuffle id} is answered as a {@code wire.BlockFrameLayout} frame, and
 * {@link #BOOTSTRAP} asks for the endpoint of the peer.
 *
 * @param shuffleId Spark's shuffle id
 * @param mapId Spark's map id
 * @param start first reduce partition
 * @param end behind the last reduce partition
 * @param isBatch whether it is asked for as a batch
 */
public record BlockRange(int shuffleId, long mapId, int start, int end, boolean isBatch) {
    /** First of the shuffle ids under which blocks are served framed. */
    public static final int FRAMED_BASE = 1 << 30;
    /** Shuffle id of the reserved block. */
    public static final int RESERVED_SHUFFLE = Integer.MAX_VALUE;
    /** The reserved block that asks a peer for its endpoint. */
    public static final String BOOTSTRAP = "shuffle_" + RESERVED_SHUFFLE + "_0_0";

    private static final String PREFIX = "shuffle_";

    /** The run that a block id names; nothing if it names something else (index, data, merged...). */
    public static Optional<BlockRange> of(BlockId blockId) {
        if (blockId instanceof ShuffleBlockId block) {
            return Optional.of(
                    new BlockRange(block.shuffleId(), block.mapId(), block.reduceId(), block.reduceId() + 1, false));
        }
        if (blockId instanceof ShuffleBlockBatchId batch) {
            return Optional.of(
                    new BlockRange(batch.shuffleId(), batch.mapId(), batch.startReduceId(), batch.endReduceId(), true));
        }
        return Optional.empty();
    }

    /** The run that a block id's text names; nothing if it names something else. */
    public static Optional<BlockRange> parse(String blockId) {
        if (!blockId.startsWith(PREFIX)) {
            return Optional.empty();
        }
        return parseNumbers(blockId)
                .filter(range ->
                        range.shuffleId >= 0 && range.mapId >= 0 && range.start >= 0 && range.end > range.start)
                // Signs and leading zeros: Spark would not know the id again.
                .filter(range -> range.blockId().equals(blockId));
    }

    private static Optional<BlockRange> parseNumbers(String blockId) {
        String[] parts = blockId.substring(PREFIX.length()).split("_", -1);
        try {
            int shuffleId = Integer.parseInt(parts[0]);
            long mapId = Long.parseLong(parts[1]);
            int start = Integer.parseInt(parts[2]);
            return switch (parts.length) {
                case 3 -> Optional.of(new BlockRange(shuffleId, mapId, start, start + 1, false));
                case 4 -> Optional.of(new BlockRange(shuffleId, mapId, start, Integer.parseInt(parts[3]), true));
                default -> Optional.empty();
            };
        } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
            return Optional.empty();
        }
    }

    /** The id's text, as Spark writes it. */
    public String blockId() {
        String id = PREFIX + shuffleId + "_" + mapId + "_" + start;
        return isBatch ? id + "_" + end : id;
    }

    /** Number of reduce partitions. */
    public int partitions() {
        return end - start;
    }

    /** Whether this is the reserved block. */
    public boolean isBootstrap() {
        return shuffleId == RESERVED_SHUFFLE;
    }

    /** Whether the run is asked for as a frame. */
    public boolean isFramed() {
        return shuffleId >= FRAMED_BASE && !isBootstrap();
    }

    /** The same run, asked for as a frame. */
    public BlockRange framed() {
        return new BlockRange(FRAMED_BASE + shuffleId, mapId, start, end, isBatch);
    }

    /** The same run, asked for without a frame. */
    public BlockRange unframed() {
        return new BlockRange(shuffleId - FRAMED_BASE, mapId, start, end, isBatch);
    }

    /** Whether the run can be asked for as a frame: its shuffle id leaves room for it. */
    public boolean canBeFramed() {
        return shuffleId >= 0 && shuffleId < RESERVED_SHUFFLE - FRAMED_BASE;
    }
}
