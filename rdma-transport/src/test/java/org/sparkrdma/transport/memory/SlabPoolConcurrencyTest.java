/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.sparkrdma.transport.memory.TestPools.QUARANTINE;
import static org.sparkrdma.transport.memory.TestPools.SLAB;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.transport.support.MemoryDirectory;

@Timeout(120)
class SlabPoolConcurrencyTest {
    private static final int THREADS = 8;

    @TempDir
    Path disk;

    @Test
    void extentsOfManyThreadsNeverOverlap() throws Exception {
        Map<Integer, Slab> open = new ConcurrentHashMap<>();
        AtomicInteger faults = new AtomicInteger();
        SlabListener listener = new SlabListener() {
            @Override
            public void slabOpened(Slab slab) {
                faults.addAndGet(open.put(slab.id(), slab) == null ? 0 : 1);
            }

            @Override
            public void slabClosed(Slab slab) {
                faults.addAndGet(open.remove(slab.id(), slab) ? 0 : 1);
            }
        };
        TestPools pools = new TestPools();
        try (MemoryDirectory memory = MemoryDirectory.create(16 * SLAB)) {
            SlabPool pool = pools.memory(memory.path(), 6 * SLAB)
                    .overflow(disk)
                    .slabsAhead(1)
                    .leakDetection()
                    .listener(listener)
                    .build();
            AtomicBoolean isDone = new AtomicBoolean();
            ExecutorService threads = Executors.newFixedThreadPool(THREADS + 1);
            Future<?> maintenance = threads.submit(() -> {
                while (!isDone.get()) {
                    pools.clock.advance(QUARANTINE.dividedBy(3));
                    pool.maintain();
                }
            });
            List<Future<Integer>> workers = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                int seed = i + 1;
                workers.add(threads.submit(() -> allocateAndFree(pool, open, seed)));
            }
            int overwritten = 0;
            for (Future<Integer> worker : workers) {
                overwritten += worker.get();
            }
            isDone.set(true);
            maintenance.get();
            threads.shutdown();
            assertTrue(threads.awaitTermination(10, TimeUnit.SECONDS));

            assertEquals(0, overwritten, "extents that another thread wrote into");
            assertEquals(0, faults.get(), "slab ids published twice");
            assertTrue(pool.usage().memoryPeak() <= 6 * SLAB);
            assertTrue(pool.usage().overflowPeak() > 0, "the test reaches the overflow");
            assertEquals(List.of(), pool.allocationSites());
            pools.clock.advance(QUARANTINE);
            pool.maintain();
            assertEquals(0, pool.usage().used());
            assertEquals(0, pool.usage().quarantined());
            assertEquals(0, pool.usage().overflow());
            pool.close();
            assertEquals(Map.of(), open);
        }
    }

    @Test
    void allocationsThatRaceWithCloseFailClearlyOrSucceed() throws Exception {
        for (int round = 0; round < 20; round++) {
            try (MemoryDirectory memory = MemoryDirectory.create(16 * SLAB)) {
                SlabPool pool = new TestPools()
                        .memory(memory.path(), 4 * SLAB)
                        .overflow(disk)
                        .build();
                ExecutorService threads = Executors.newFixedThreadPool(THREADS);
                AtomicInteger allocated = new AtomicInteger();
                List<Future<String>> workers = new ArrayList<>();
                for (int i = 0; i < THREADS; i++) {
                    workers.add(threads.submit(() -> {
                        try {
                            while (true) {
                                pool.allocate(SLAB / 4);
                                allocated.incrementAndGet();
                            }
                        } catch (IOException e) {
                            return e.getMessage();
                        }
                    }));
                }
                while (allocated.get() < 10) {
                    Thread.onSpinWait();
                }
                pool.close();
                for (Future<String> worker : workers) {
                    String message = worker.get();
                    assertTrue(message.contains("the executor is stopping"), message);
                }
                assertEquals(0, pool.usage().memory() + pool.usage().overflow());
                threads.shutdown();
            }
        }
    }

    private static int allocateAndFree(SlabPool pool, Map<Integer, Slab> open, int seed) throws IOException {
        Random random = new Random(seed);
        List<Extent> live = new ArrayList<>();
        int overwritten = 0;
        for (int round = 0; round < 4_000; round++) {
            if (live.size() < 12 && random.nextBoolean()) {
                Extent extent = pool.allocate(1 + random.nextInt((int) SLAB / 2));
                if (random.nextBoolean()) {
                    extent = pool.trim(extent, 1 + random.nextInt((int) extent.length()));
                }
                overwritten += open.get(extent.slab().id()) == extent.slab() ? 0 : 1;
                stamp(extent, seed);
                live.add(extent);
            } else if (!live.isEmpty()) {
                Extent extent = live.remove(random.nextInt(live.size()));
                overwritten += holds(extent, seed) ? 0 : 1;
                pool.free(extent);
            }
        }
        for (Extent extent : live) {
            overwritten += holds(extent, seed) ? 0 : 1;
            pool.free(extent);
        }
        return overwritten;
    }

    private static void stamp(Extent extent, int seed) {
        ByteBuffer memory = extent.view();
        for (int at = 0; at < extent.length(); at += 1024) {
            memory.putInt(at, seed);
        }
    }

    private static boolean holds(Extent extent, int seed) {
        ByteBuffer memory = extent.view();
        for (int at = 0; at < extent.length(); at += 1024) {
            if (memory.getInt(at) != seed) {
                return false;
            }
        }
        return true;
    }
}
