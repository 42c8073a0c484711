/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.catalog;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog.MapOutputId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.transport.api.ReadLease;
import org.sparkrdma.transport.api.RemoteRange;
import org.sparkrdma.transport.memory.ExtentChain;
import org.sparkrdma.transport.memory.Slab;
import org.sparkrdma.transport.memory.SlabListener;
import org.sparkrdma.transport.wire.DirectoryEntryLayout.Entry;
import org.sparkrdma.transport.wire.DirectoryLayout;
import org.sparkrdma.transport.wire.DirectoryLayout.Segment;

class MapOutputCatalogTest {
    private static final byte[] SOME = {1, 2, 3};

    @TempDir
    private Path home;

    @Test
    void ownerAndPeersFindEveryOneOfAHundredThousandMapOutputs() throws IOException {
        int outputs = 100_000;
        try (ExecutorMemory memory = new ExecutorMemory(home, 64 << 20, 1L << 40, UnaryOperator.identity())) {
            Peer peer = new Peer(memory);
            for (int i = 0; i < outputs; i++) {
                memory.publish(i % 7, i, new byte[0]);
            }
            assertTrue(DirectoryLayout.segments(memory.memory(0)).size() > 3);

            for (int i = 0; i < outputs; i++) {
                MapOutput output =
                        memory.catalog().acquire(new MapOutputId(i % 7, i)).orElseThrow();
                assertEquals(Optional.of(output.entry()), PeerDirectory.lookup(peer, i % 7, i));
                output.release();
                if (i % 3 == 0) {
                    assertTrue(memory.catalog().withdraw(new MapOutputId(i % 7, i)));
                }
            }
            memory.catalog().withdrawShuffle(5);
            for (int i = 0; i < outputs; i++) {
                boolean isThere = i % 3 != 0 && i % 7 != 5;
                assertEquals(isThere, PeerDirectory.lookup(peer, i % 7, i).isPresent());
                Optional<MapOutput> output = memory.catalog().acquire(new MapOutputId(i % 7, i));
                assertEquals(isThere, output.isPresent());
                output.ifPresent(MapOutput::release);
            }
            assertEquals(Optional.empty(), PeerDirectory.lookup(peer, 8, 1));
            for (int shuffle = 0; shuffle < 7; shuffle++) {
                memory.catalog().withdrawShuffle(shuffle);
            }
            assertEquals(List.of(), memory.catalog().stored());
        }
    }

    @Test
    void slotsOfWithdrawnMapOutputsAreUsedAgain() throws IOException {
        try (ExecutorMemory memory = new ExecutorMemory(home)) {
            for (int i = 0; i < 20_000; i++) {
                memory.publish(1, i, SOME);
                if (i >= 500) {
                    memory.catalog().withdraw(new MapOutputId(1, i - 500));
                }
                if (i % 1000 == 0) {
                    memory.rest();
                }
            }
            assertTrue(DirectoryLayout.segments(memory.memory(0)).size() <= 2);
        }
    }

    @Test
    void aMapOutputThatIsPublishedAgainReplacesTheEarlierOne() throws IOException {
        try (ExecutorMemory memory = new ExecutorMemory(home)) {
            Peer peer = new Peer(memory);
            memory.publish(1, 2, new byte[100_000]);
            Entry earlier = PeerDirectory.lookup(peer, 1, 2).orElseThrow();
            memory.publish(1, 2, SOME, SOME);
            Entry now = PeerDirectory.lookup(peer, 1, 2).orElseThrow();

            assertTrue(earlier.generation() != now.generation());
            assertEquals(2, now.partitions());
            assertTrue(memory.inUse() <= 2 * 4096);
            memory.catalog().withdraw(new MapOutputId(1, 2));
            assertEquals(Optional.empty(), PeerDirectory.lookup(peer, 1, 2));
            assertEquals(0, memory.inUse());
        }
    }

    @Test
    void lengthsThatAreNotTheDatasAreRefusedAndTheChainStaysTheCallers() throws IOException {
        try (ExecutorMemory memory = new ExecutorMemory(home)) {
            ExtentChain data = new ExtentChain(memory.pool());
            data.append(new byte[100], 0, 100);
            data.seal();
            long before = memory.inUse();
            for (long[] lengths : new long[][] {{99}, {101}, {50, 51}, {-1, 101}, {200, -100}}) {
                assertThrows(IOException.class, () -> memory.catalog()
                        .publish(new MapOutputId(1, 2), data, lengths, new int[lengths.length], false, memory.pool()));
                assertEquals(before, memory.inUse());
            }
            data.free();
        }
    }

    @Test
    void everyRunOfPartitionsIsReadAsItWasWritten() throws IOException {
        Random random = new Random(11);
        try (ExecutorMemory memory = new ExecutorMemory(home)) {
            Peer peer = new Peer(memory);
            for (int round = 0; round < 15; round++) {
                byte[][] partitions = new byte[1 + random.nextInt(round < 10 ? 50 : 6)][];
                for (int i = 0; i < partitions.length; i++) {
                    int most = round < 10 ? 20_000 : 3_000_000;
                    partitions[i] = new byte[random.nextInt(3) == 0 ? 0 : random.nextInt(most)];
                    random.nextBytes(partitions[i]);
                }
                memory.publish(1, round, partitions);
                MapOutput output =
                        memory.catalog().acquire(new MapOutputId(1, round)).orElseThrow();
                Entry seen = PeerDirectory.lookup(peer, 1, round).orElseThrow();
                for (int i = 0; i < 20; i++) {
                    int start = random.nextInt(partitions.length);
                    int end = start + 1 + random.nextInt(partitions.length - start);
                    byte[] expected = join(partitions, start, end);
                    try (StoredBlock own = memory.catalog().read(output, start, end);
                            StoredBlock remote = BlockReader.read(peer, seen, start, end)) {
                        own.verify("own");
                        remote.verify("remote");
                        assertEquals(end - start, own.lengths().length);
                        assertEquals(expected.length, own.bytes());
                        assertArrayEquals(expected, ExecutorMemory.bytes(own.slices()));
                        assertArrayEquals(expected, ExecutorMemory.bytes(remote.slices()));
                    }
                }
                output.release();
                memory.catalog().withdrawShuffle(1);
                memory.rest();
            }
            assertEquals(0, memory.inUse());
        }
    }

    @Test
    void runsThatTheMapOutputDoesNotHaveAreRefused() throws IOException {
        try (ExecutorMemory memory = new ExecutorMemory(home)) {
            memory.publish(1, 2, SOME, SOME);
            MapOutput output = memory.catalog().acquire(new MapOutputId(1, 2)).orElseThrow();
            for (int[] run : new int[][] {{-1, 1}, {0, 0}, {1, 1}, {2, 3}, {0, 3}, {1, 0}, {0, Integer.MIN_VALUE}}) {
                assertThrows(IOException.class, () -> memory.catalog().read(output, run[0], run[1]));
            }
            output.release();
        }
    }

    @Test
    void extentsAreUsedAgainOnlyWhenTheLastReaderHasLetGo() throws IOException {
        try (ExecutorMemory memory = new ExecutorMemory(home)) {
            byte[] content = new byte[300_000];
            new Random(3).nextBytes(content);
            memory.publish(1, 2, content);
            MapOutput one = memory.catalog().acquire(new MapOutputId(1, 2)).orElseThrow();
            MapOutput two = memory.catalog().acquire(new MapOutputId(1, 2)).orElseThrow();
            memory.catalog().withdrawShuffle(1);
            assertTrue(memory.catalog().acquire(new MapOutputId(1, 2)).isEmpty());

            one.release();
            memory.rest();
            for (int i = 0; i < 5; i++) {
                memory.publish(9, i, new byte[300_000]);
            }
            try (StoredBlock block = memory.catalog().read(two, 0, 1)) {
                assertArrayEquals(content, ExecutorMemory.bytes(block.slices()));
            }
            memory.catalog().withdrawShuffle(9);
            assertTrue(memory.inUse() >= 300_000);
            two.release();
            assertEquals(0, memory.inUse());
        }
    }

    @Test
    void aDirectoryThatGrowsDoesNotWaitForASlabThatIsBeingPublished() {
        AtomicReference<Thread> publisher = new AtomicReference<>();
        CountDownLatch isInside = new CountDownLatch(1);
        UnaryOperator<SlabListener> waitForThePublisher = listener -> new SlabListener() {
            @Override
            public void slabOpened(Slab slab) {
                Thread other = publisher.get();
                if (other != null && Thread.currentThread() != other) {
                    isInside.countDown();
                    // As soon as the publisher waits for the growth that this thread is at, or has ended without.
                    while (other.getState() != Thread.State.BLOCKED && other.isAlive()) {
                        Thread.onSpinWait();
                    }
                }
                listener.slabOpened(slab);
            }

            @Override
            public void slabClosed(Slab slab) {
                listener.slabClosed(slab);
            }
        };
        assertTimeoutPreemptively(Duration.ofSeconds(20), () -> {
            ExecutorMemory memory = new ExecutorMemory(home, 1 << 20, 1L << 40, waitForThePublisher);
            List<Long> maps = aFullBucket();
            for (long map : maps.subList(1, maps.size())) {
                memory.publish(2, map, new byte[0]);
            }
            // Room for an index is left, but none for a segment.
            while (memory.pool().usage().memory() - memory.pool().usage().used() >= 1 << 19) {
                var unused = memory.pool().allocate(1 << 18);
            }
            AtomicReference<Throwable> failure = new AtomicReference<>();
            Thread grower = new Thread(() -> {
                try {
                    var unused = memory.pool().allocate(1 << 20);
                } catch (IOException e) {
                    failure.set(e);
                }
            });
            Thread publishing = new Thread(() -> {
                try {
                    isInside.await();
                    memory.publish(2, maps.get(0), new byte[0]);
                } catch (IOException | InterruptedException e) {
                    failure.set(e);
                }
            });
            publisher.set(publishing);
            publishing.start();
            grower.start();
            publishing.join();
            grower.join();
            assertEquals(null, failure.get());
            memory.close();
        });
    }

    /** Map ids that share a bucket of the first segment, and one more. */
    private static List<Long> aFullBucket() {
        Segment first = new Segment(0, 0, DirectoryLayout.FIRST_SEGMENT_BUCKETS);
        List<Long> maps = new ArrayList<>();
        for (long map = 0; maps.size() <= DirectoryLayout.BUCKET_ENTRIES; map++) {
            if (first.bucketOffset(2, map) == first.bucketOffset(2, 0)) {
                maps.add(map);
            }
        }
        return maps;
    }

    @Test
    void aMapOutputThatIsPublishedWhileItsShuffleGoesIsNotLost() throws Exception {
        try (ExecutorMemory memory = new ExecutorMemory(home)) {
            ExecutorService threads = Executors.newFixedThreadPool(2);
            for (int round = 0; round < 300; round++) {
                int shuffle = round;
                Future<?> publishing = threads.submit(() -> {
                    for (int map = 0; map < 10; map++) {
                        memory.publish(shuffle, map, SOME);
                    }
                    return null;
                });
                Future<?> withdrawing = threads.submit(() -> {
                    for (int i = 0; i < 10; i++) {
                        memory.catalog().withdrawShuffle(shuffle);
                    }
                });
                publishing.get();
                withdrawing.get();
                memory.catalog().withdrawShuffle(shuffle);
                assertEquals(0, memory.inUse(), "after round " + round);
                memory.rest();
            }
            threads.shutdown();
        }
    }

    @Test
    void ownerAndPeersAgreeWhileMapOutputsComeAndGo() throws Exception {
        try (ExecutorMemory memory = new ExecutorMemory(home)) {
            Peer peer = new Peer(memory);
            ExecutorService threads = Executors.newFixedThreadPool(4);
            CountDownLatch stop = new CountDownLatch(1);
            AtomicInteger found = new AtomicInteger();
            List<Future<?>> readers = new ArrayList<>();
            for (int t = 0; t < 2; t++) {
                readers.add(threads.submit(() -> {
                    Random random = new Random(5);
                    while (stop.getCount() > 0) {
                        int map = random.nextInt(50);
                        Optional<Entry> entry = PeerDirectory.lookup(peer, 1, map);
                        if (entry.isPresent()) {
                            assertEquals(map, entry.get().mapId());
                            found.incrementAndGet();
                        }
                        Optional<MapOutput> own = memory.catalog().acquire(new MapOutputId(1, map));
                        if (own.isPresent()) {
                            try (StoredBlock block = memory.catalog().read(own.get(), 0, 1)) {
                                assertArrayEquals(content(map), ExecutorMemory.bytes(block.slices()));
                            }
                            own.get().release();
                        }
                    }
                    return null;
                }));
            }
            List<Future<?>> writers = new ArrayList<>();
            for (int t = 0; t < 2; t++) {
                int seed = t;
                writers.add(threads.submit(() -> {
                    Random random = new Random(seed);
                    for (int i = 0; i < 5_000; i++) {
                        int map = random.nextInt(50);
                        if (random.nextBoolean()) {
                            memory.publish(1, map, content(map));
                        } else {
                            memory.catalog().withdraw(new MapOutputId(1, map));
                        }
                        if (i % 500 == 0) {
                            memory.rest();
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> writer : writers) {
                writer.get(60, TimeUnit.SECONDS);
            }
            stop.countDown();
            for (Future<?> reader : readers) {
                reader.get(60, TimeUnit.SECONDS);
            }
            assertTrue(found.get() > 0);
            for (int map = 0; map < 50; map++) {
                Optional<MapOutput> own = memory.catalog().acquire(new MapOutputId(1, map));
                assertEquals(own.map(MapOutput::entry), PeerDirectory.lookup(peer, 1, map));
                own.ifPresent(MapOutput::release);
            }
            memory.catalog().withdrawShuffle(1);
            assertEquals(0, memory.inUse());
            threads.shutdown();
        }
    }

    @Test
    void whatIsLeftAtTheEndIsNoLeak() throws IOException {
        ExecutorMemory memory = new ExecutorMemory(home);
        for (int i = 0; i < 5_000; i++) {
            memory.publish(i % 3, i, SOME);
        }
        memory.close();

        assertEquals(List.of(), memory.pool().allocationSites());
    }

    private static byte[] content(int map) {
        byte[] content = new byte[1000 + map];
        new Random(map).nextBytes(content);
        return content;
    }

    private static byte[] join(byte[][] partitions, int start, int end) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int i = start; i < end; i++) {
            out.writeBytes(partitions[i]);
        }
        return out.toByteArray();
    }

    /** Reads an executor's memory as a peer on the same host does, without mapping it anew. */
    record Peer(ExecutorMemory memory) implements SlabAccess {
        @Override
        public ReadLease read(RemoteRange range) throws IOException {
            ByteBuffer slab;
            try {
                slab = memory.memory(range.slabId());
            } catch (NullPointerException e) {
                throw new IOException("no such slab: " + range.slabId(), e);
            }
            if (range.offset() + range.length() > slab.capacity()) {
                throw new IOException("behind the slab: " + range);
            }
            ByteBuffer bytes =
                    slab.slice((int) range.offset(), (int) range.length()).asReadOnlyBuffer();
            return new ReadLease() {
                @Override
                public ByteBuffer bytes() {
                    return bytes.duplicate();
                }

                @Override
                public void close() {}
            };
        }

        @Override
        public boolean isOverflow(int slabId) {
            return false;
        }
    }
}
