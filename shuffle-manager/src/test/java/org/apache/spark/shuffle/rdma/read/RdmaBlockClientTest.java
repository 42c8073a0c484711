/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.read;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.SparkConf;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.shuffle.rdma.buffers.BlockRange;
import org.apache.spark.shuffle.rdma.catalog.ChecksumMismatchException;
import org.apache.spark.shuffle.rdma.catalog.ExecutorMemory;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog.MapOutputId;
import org.apache.spark.shuffle.rdma.compat.TransportConfs;
import org.apache.spark.shuffle.rdma.fallback.Bootstrap;
import org.apache.spark.shuffle.rdma.fallback.BootstrapAnswer;
import org.apache.spark.shuffle.rdma.fallback.FakeTransfer;
import org.apache.spark.shuffle.rdma.fallback.NettyPath;
import org.apache.spark.shuffle.rdma.fallback.PeerName;
import org.apache.spark.shuffle.rdma.metrics.PathCounters;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.transport.api.Availability;
import org.sparkrdma.transport.api.BlockTransport;
import org.sparkrdma.transport.api.PeerEndpoint;
import org.sparkrdma.transport.api.PeerSession;
import org.sparkrdma.transport.api.ReadLease;
import org.sparkrdma.transport.api.RemoteRange;
import org.sparkrdma.transport.api.TransportException;
import org.sparkrdma.transport.memory.ExtentChain;
import org.sparkrdma.transport.select.PathSelector;
import org.sparkrdma.transport.shm.ShmTransport;
import org.sparkrdma.transport.wire.DirectoryLayout;

class RdmaBlockClientTest {
    private static final PeerName PEER = new PeerName("7", "host-a", 1234);

    @TempDir
    private Path home;

    private ExecutorMemory peer;
    private ExtentChain data;
    private FakeTransfer transfer;
    private final PathCounters counters = new PathCounters();
    private final Listener listener = new Listener();
    private PathSelector<PeerName> selector;

    @BeforeEach
    void publish() throws IOException {
        peer = new ExecutorMemory(home);
        data = peer.publish(1, 2, new byte[] {1, 2, 3}, new byte[] {4});
        peer.publish(1, 3, new byte[] {5}, new byte[] {6, 7});
        transfer = FakeTransfer.of(peer);
    }

    @AfterEach
    void close() throws IOException {
        selector.close();
        peer.close();
    }

    @Test
    void blocksOfAPeerOnThisHostComeThroughSharedMemory() {
        fetch(client(new ShmTransport()), "shuffle_1_2_0", "shuffle_1_3_0_2", "shuffle_1_2_1");

        assertArrayEquals(new byte[] {1, 2, 3}, listener.arrived.get("shuffle_1_2_0"));
        assertArrayEquals(new byte[] {5, 6, 7}, listener.arrived.get("shuffle_1_3_0_2"));
        assertArrayEquals(new byte[] {4}, listener.arrived.get("shuffle_1_2_1"));
        assertEquals(List.of(), transfer.asked());
        assertEquals(7, counters.read().shm());
        assertEquals(0, counters.read().netty());
    }

    @Test
    void aMapOutputThatIsNotInThePeersMemoryComesByNetty() {
        transfer = serving("shuffle_1073741825_9_0");

        fetch(client(new ShmTransport()), "shuffle_1_2_0", "shuffle_1_9_0", "shuffle_1_2_1");

        assertEquals(Set.of("shuffle_1_2_0", "shuffle_1_9_0", "shuffle_1_2_1"), listener.arrived.keySet());
        assertEquals(List.of("shuffle_1073741825_9_0"), transfer.asked());
        assertEquals("shm", selector.path(PEER).path());
    }

    @Test
    void aDamagedBlockIsNeitherHandedOnBySharedMemoryNorByNetty() {
        ExecutorMemory.flip(data, 1);

        fetch(client(new ShmTransport()), "shuffle_1_2_1", "shuffle_1_2_0", "shuffle_1_3_0");

        assertEquals(Set.of("shuffle_1_2_1", "shuffle_1_3_0"), listener.arrived.keySet());
        assertInstanceOf(ChecksumMismatchException.class, listener.failed.get("shuffle_1_2_0"));
        assertEquals("netty", selector.path(PEER).path());
        assertTrue(
                selector.path(PEER).cause().contains("CRC32C"),
                selector.path(PEER).cause());
    }

    @Test
    void whatASessionThatBreaksDidNotReadComesByNetty() {
        Breaking transport = new Breaking();
        RdmaBlockClient client = client(transport);
        transport.dataReadsLeft.set(4);

        fetch(client, "shuffle_1_2_0", "shuffle_1_2_1", "shuffle_1_3_0", "shuffle_1_3_1");

        assertArrayEquals(new byte[] {1, 2, 3}, listener.arrived.get("shuffle_1_2_0"));
        assertArrayEquals(new byte[] {6, 7}, listener.arrived.get("shuffle_1_3_1"));
        assertEquals(4, listener.arrived.size());
        assertEquals(3, transfer.asked().size());
        assertEquals("netty", selector.path(PEER).path());
        assertEquals(3, counters.read().shm());
        assertEquals(4, counters.read().netty());
    }

    @Test
    void aTaskThatIsKilledSaysNothingAboutThePath() {
        Breaking transport = new Breaking();
        RdmaBlockClient client = client(transport);
        fetch(client, "shuffle_1_2_0");
        transport.dataReadsLeft.set(0);
        Thread.currentThread().interrupt();

        fetch(client, "shuffle_1_2_0");

        assertTrue(Thread.interrupted());
        assertEquals("shm", selector.path(PEER).path());
    }

    @Test
    void aPathThatIsMarkedDownWhileAnotherTaskReadsFailsNobody() throws Exception {
        RdmaBlockClient client = client(new ShmTransport());
        AtomicBoolean isOver = new AtomicBoolean();
        Thread spoiler = new Thread(() -> {
            while (!isOver.get()) {
                selector.session(PEER, () -> Optional.of(peer.catalog().endpoint()))
                        .ifPresent(session -> selector.markDown(PEER, session, "on purpose"));
            }
        });
        spoiler.start();
        try {
            for (int i = 0; i < 3_000; i++) {
                listener.arrived.clear();
                fetch(client, "shuffle_1_2_0");
                assertArrayEquals(new byte[] {1, 2, 3}, listener.arrived.get("shuffle_1_2_0"));
            }
        } finally {
            isOver.set(true);
            spoiler.join();
        }
    }

    @Test
    void aPeerWithoutMemoryIsReadByNetty() {
        transfer = new FakeTransfer(id -> Optional.of(new NioManagedBuffer(
                id.equals(BlockRange.BOOTSTRAP) ? ByteBuffer.wrap(new byte[1]) : FakeTransfer.frame(peer, id))));

        fetch(client(new ShmTransport()), "shuffle_1_2_0");

        assertArrayEquals(new byte[] {1, 2, 3}, listener.arrived.get("shuffle_1_2_0"));
        assertEquals(3, counters.read().netty());
    }

    @Test
    void idsThatAreNotOursArePassedOnUntouched() {
        transfer = new FakeTransfer(id -> Optional.of(new NioManagedBuffer(ByteBuffer.wrap(new byte[] {42}))));

        fetch(client(new ShmTransport()), "shuffle_1_2_0", "shuffleChunk_1_0_2_3");

        assertEquals(List.of("shuffle_1_2_0", "shuffleChunk_1_0_2_3"), transfer.asked());
        assertEquals(2, listener.arrived.size());
        assertEquals(0, counters.read().netty());
    }

    @Test
    void aBlockThatIsWithdrawnWhileItIsReadIsNoticedAtItsEnd() throws IOException {
        RdmaBlockClient client = client(new ShmTransport());
        listener.isKeeping = true;
        fetch(client, "shuffle_1_2_0");
        var in = listener.kept.createInputStream();
        assertEquals(3, in.readNBytes(3).length);

        peer.catalog().withdraw(new MapOutputId(1, 2));

        IOException noticed = assertThrows(IOException.class, in::read);
        assertTrue(noticed.getMessage().contains("withdrawn"), noticed.getMessage());
        listener.kept.release();
    }

    @Test
    void aBlockThatWasWithdrawnByAPeerThatThenClosedIsNoticedToo() throws IOException {
        RdmaBlockClient client = client(new ShmTransport());
        listener.isKeeping = true;
        fetch(client, "shuffle_1_2_0");
        var in = listener.kept.createInputStream();
        assertEquals(3, in.readNBytes(3).length);

        peer.catalog().withdraw(new MapOutputId(1, 2));
        DirectoryLayout.close(peer.memory(0));

        assertThrows(IOException.class, in::read);
        listener.kept.release();
    }

    private void fetch(RdmaBlockClient client, String... ids) {
        client.fetchBlocks(PEER.host(), PEER.port(), PEER.executorId(), ids, listener, null);
    }

    private FakeTransfer serving(String framedId) {
        return new FakeTransfer(id -> {
            if (id.equals(framedId)) {
                peer.publish(1, 9, new byte[] {8});
                try {
                    return Optional.of(new NioManagedBuffer(FakeTransfer.frame(peer, id)));
                } finally {
                    peer.catalog().withdraw(new MapOutputId(1, 9));
                }
            }
            return Optional.of(new NioManagedBuffer(
                    BootstrapAnswer.encode(Optional.of(peer.catalog().endpoint()))));
        });
    }

    private RdmaBlockClient client(BlockTransport transport) {
        selector = new PathSelector<>(List.of(transport), Duration.ZERO, System::nanoTime);
        ReadPaths paths = new ReadPaths(
                selector,
                new Bootstrap(transfer, Duration.ofSeconds(5)),
                new NettyPath(transfer, true, TransportConfs.shuffle(new SparkConf(false))),
                transfer,
                counters,
                true,
                1_000);
        return new RdmaBlockClient(paths, new PathLedger(), new RawBlocks(range -> false));
    }

    /** Keeps what arrives. */
    private static final class Listener implements BlockFetchingListener {
        private final Map<String, byte[]> arrived = new LinkedHashMap<>();
        private final Map<String, Throwable> failed = new LinkedHashMap<>();
        private boolean isKeeping;
        private ManagedBuffer kept;

        @Override
        public void onBlockFetchSuccess(String blockId, ManagedBuffer block) {
            if (isKeeping) {
                kept = block.retain();
                return;
            }
            try {
                arrived.put(blockId, block.createInputStream().readAllBytes());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public void onBlockFetchFailure(String blockId, Throwable cause) {
            failed.put(blockId, cause);
        }
    }

    /** Shared memory that breaks after some reads outside the directory. */
    private static final class Breaking implements BlockTransport {
        private final ShmTransport shm = new ShmTransport();
        private final AtomicInteger dataReadsLeft = new AtomicInteger(1_000);

        @Override
        public String name() {
            return "shm";
        }

        @Override
        public Availability availability() {
            return Availability.AVAILABLE;
        }

        @Override
        public PeerSession connect(PeerEndpoint peer) throws TransportException {
            PeerSession session = shm.connect(peer);
            return new PeerSession() {
                @Override
                public PeerEndpoint peer() {
                    return session.peer();
                }

                @Override
                public CompletableFuture<ReadLease> read(RemoteRange range) {
                    return range.slabId() != DirectoryLayout.DIRECTORY_SLAB && dataReadsLeft.getAndDecrement() <= 0
                            ? CompletableFuture.failedFuture(new TransportException("broken on purpose"))
                            : session.read(range);
                }

                @Override
                public boolean isOverflow(int slabId) throws TransportException {
                    return session.isOverflow(slabId);
                }

                @Override
                public boolean isAlive() {
                    return session.isAlive();
                }

                @Override
                public void dropStale() {
                    session.dropStale();
                }

                @Override
                public void close() {
                    session.close();
                }
            };
        }

        @Override
        public void close() {}
    }
}
