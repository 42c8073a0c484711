/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.buffers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockId$;
import org.apache.spark.storage.ShuffleIndexBlockId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BlockRangeTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "shuffle_0_0_0",
                "shuffle_3_17_5",
                "shuffle_1073741822_9223372036854775807_2147483646",
                "shuffle_3_17_5_9",
                "shuffle_0_0_0_2147483647"
            })
    void anIdThatSparkWritesIsParsedAndWrittenBack(String id) {
        BlockRange range = BlockRange.parse(id).orElseThrow();
        BlockId spark = BlockId$.MODULE$.apply(id);

        assertEquals(id, range.blockId());
        assertEquals(Optional.of(range), BlockRange.of(spark));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "shuffle_",
                "shuffle_1",
                "shuffle_1_2",
                "shuffle_1_2_",
                "shuffle_1_2_3_4_5",
                "shuffle_1_2_3.data",
                "shuffle_1_2_3.index",
                "shuffle_a_2_3",
                "shuffle_+1_2_3",
                "shuffle_01_2_3",
                "shuffle_-1_2_3",
                "shuffle_1_-2_3",
                "shuffle_1_2_-3",
                "shuffle_2147483648_0_0",
                "shuffle_0_9223372036854775808_0",
                "shuffle_0_0_2147483647",
                "shuffle_1_2_5_5",
                "shuffle_1_2_5_3",
                "shuffleChunk_1_2_3_4",
                "shuffleMerged_1_2_3",
                "rdd_1_2"
            })
    void whatIsNoRunOfPartitionsIsNotParsed(String id) {
        assertEquals(Optional.empty(), BlockRange.parse(id));
    }

    @Test
    void indexAndDataBlocksAreNoRuns() {
        assertEquals(Optional.empty(), BlockRange.of(new ShuffleIndexBlockId(1, 2, 0)));
    }

    @Test
    void aRunCanBeAskedForAsAFrameAndBack() {
        for (String id : new String[] {"shuffle_0_5_3", "shuffle_1073741822_5_3_9"}) {
            BlockRange range = BlockRange.parse(id).orElseThrow();

            assertTrue(range.canBeFramed());
            assertFalse(range.isFramed());
            assertTrue(range.framed().isFramed());
            assertFalse(range.framed().isBootstrap());
            assertEquals(range, range.framed().unframed());
            assertEquals(
                    Optional.of(range.framed()), BlockRange.parse(range.framed().blockId()));
        }
    }

    @Test
    void aShuffleIdThatLeavesNoRoomCannotBeFramed() {
        assertFalse(BlockRange.parse("shuffle_1073741823_0_0").orElseThrow().canBeFramed());
        assertFalse(BlockRange.parse("shuffle_2147483647_0_0").orElseThrow().canBeFramed());
    }

    @Test
    void theReservedBlockIsNeitherAFrameNorAShuffle() {
        BlockRange bootstrap = BlockRange.parse(BlockRange.BOOTSTRAP).orElseThrow();

        assertTrue(bootstrap.isBootstrap());
        assertFalse(bootstrap.isFramed());
    }
}
