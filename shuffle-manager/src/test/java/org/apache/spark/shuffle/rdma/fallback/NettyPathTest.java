/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.fallback;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.shuffle.rdma.buffers.BlockRange;
import org.apache.spark.shuffle.rdma.catalog.ChecksumMismatchException;
import org.apache.spark.shuffle.rdma.catalog.ExecutorMemory;
import org.apache.spark.shuffle.rdma.compat.TransportConfs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NettyPathTest {
    private static final PeerName PEER = new PeerName("7", "host-a", 1234);
    private static final BlockRange BLOCK = BlockRange.parse("shuffle_1_2_0").orElseThrow();
    private static final BlockRange BATCH = BlockRange.parse("shuffle_1_2_0_2").orElseThrow();

    @TempDir
    private Path home;

    private ExecutorMemory peer;
    private final Map<BlockRange, byte[]> arrived = new LinkedHashMap<>();
    private final Map<BlockRange, Throwable> failed = new LinkedHashMap<>();
    private final NettyPath.Receiver receiver = new NettyPath.Receiver() {
        @Override
        public void arrived(BlockRange range, ManagedBuffer block, boolean isOverflow, boolean isRaw) {
            try {
                arrived.put(range, block.createInputStream().readAllBytes());
            } catch (IOException e) {
                failed.put(range, e);
            }
        }

        @Override
        public void failed(BlockRange range, Throwable cause) {
            failed.put(range, cause);
        }
    };

    @BeforeEach
    void publish() throws IOException {
        peer = new ExecutorMemory(home);
        peer.publish(1, 2, new byte[] {1, 2, 3}, new byte[] {4});
    }

    @AfterEach
    void close() throws IOException {
        peer.close();
    }

    @Test
    void blocksAndBatchesArriveWithoutTheirFrames() {
        FakeTransfer transfer = FakeTransfer.of(peer);

        path(transfer).fetch(PEER, List.of(BLOCK, BATCH), receiver, null);

        assertArrayEquals(new byte[] {1, 2, 3}, arrived.get(BLOCK));
        assertArrayEquals(new byte[] {1, 2, 3, 4}, arrived.get(BATCH));
        assertEquals(List.of(BLOCK.framed().blockId(), BATCH.framed().blockId()), transfer.asked());
    }

    @Test
    void aBlockThatIsDamagedOnceIsFetchedAgain() {
        int[] calls = {0};
        FakeTransfer transfer = new FakeTransfer(id -> {
            ByteBuffer frame = FakeTransfer.frame(peer, id);
            if (calls[0]++ == 0) {
                frame.put(frame.limit() - 1, (byte) 99);
            }
            return Optional.of(new NioManagedBuffer(frame));
        });

        path(transfer).fetch(PEER, List.of(BLOCK), receiver, null);

        assertArrayEquals(new byte[] {1, 2, 3}, arrived.get(BLOCK));
        assertEquals(2, transfer.asked().size());
        assertEquals(Map.of(), failed);
    }

    @Test
    void aBlockThatIsDamagedTwiceFailsAndIsNotHandedOn() {
        FakeTransfer transfer = new FakeTransfer(id -> {
            ByteBuffer frame = FakeTransfer.frame(peer, id);
            frame.put(frame.limit() - 1, (byte) 99);
            return Optional.of(new NioManagedBuffer(frame));
        });

        path(transfer).fetch(PEER, List.of(BLOCK), receiver, null);

        assertEquals(Map.of(), arrived);
        assertInstanceOf(ChecksumMismatchException.class, failed.get(BLOCK));
        assertEquals(2, transfer.asked().size());
    }

    @Test
    void aFailureOfTheTransferIsPassedOnAtOnce() {
        FakeTransfer transfer = new FakeTransfer(id -> {
            throw new IOException("gone");
        });

        path(transfer).fetch(PEER, List.of(BLOCK, BATCH), receiver, null);

        assertEquals("gone", failed.get(BLOCK).getMessage());
        assertEquals("gone", failed.get(BATCH).getMessage());
        assertEquals(2, transfer.asked().size());
    }

    @Test
    void aLackOfHeapIsAnAnswerToo() {
        FakeTransfer transfer = new FakeTransfer(id -> Optional.of(new NioManagedBuffer(ByteBuffer.allocate(0)) {
            @Override
            public ByteBuffer nioByteBuffer() throws IOException {
                throw new OutOfMemoryError("on purpose");
            }
        }));

        path(transfer).fetch(PEER, List.of(BLOCK), receiver, null);

        assertInstanceOf(OutOfMemoryError.class, failed.get(BLOCK));
    }

    private static NettyPath path(FakeTransfer transfer) {
        return new NettyPath(transfer, true, TransportConfs.shuffle(new SparkConf(false)));
    }
}
