/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.sparkrdma.transport.memory.TestPools.IDLE;
import static org.sparkrdma.transport.memory.TestPools.QUARANTINE;
import static org.sparkrdma.transport.memory.TestPools.SLAB;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.transport.support.MemoryDirectory;

class SlabPoolTest {
    private static final long PAGE = BuddyAllocator.MIN_BLOCK;

    @TempDir
    Path disk;

    private MemoryDirectory memory;
    private TestPools pools;

    @BeforeEach
    void openMemory() throws IOException {
        memory = MemoryDirectory.create(16 * SLAB);
        pools = new TestPools().memory(memory.path(), 4 * SLAB).overflow(disk);
    }

    @AfterEach
    void closeMemory() throws IOException {
        memory.close();
    }

    @Test
    void growsOnDemandUpToTheBudgetAndThenOntoDisk() throws IOException {
        try (SlabPool pool = pools.build()) {
            assertEquals(0, pool.usage().memory(), "nothing is taken before it is needed");
            for (int i = 1; i <= 4; i++) {
                assertFalse(pool.allocate(SLAB).slab().isOverflow());
                assertEquals(i * SLAB, pool.usage().memory());
            }
            assertTrue(pool.allocate(SLAB).slab().isOverflow());
            assertEquals(new PoolUsage(4 * SLAB, 4 * SLAB, 4 * SLAB, SLAB, SLAB, 5 * SLAB, 0), pool.usage());
        }
    }

    @Test
    void extentsThatRestAreNotUsedAgainBeforeTheirTime() throws IOException {
        try (SlabPool pool = pools.memory(memory.path(), SLAB).build()) {
            Extent extent = pool.allocate(SLAB);
            pool.free(extent);
            assertEquals(SLAB, pool.usage().quarantined());
            assertEquals(SLAB, pool.usage().used(), "what rests still counts as used");

            pools.clock.advance(QUARANTINE.minusNanos(1));
            Extent other = pool.allocate(SLAB);
            assertTrue(other.slab().isOverflow(), "the only slab of the budget still rests");

            pools.clock.advance(Duration.ofNanos(1));
            assertEquals(extent, pool.allocate(SLAB));
            assertEquals(0, pool.usage().quarantined());
            assertEquals(2 * SLAB, pool.usage().used());
        }
    }

    @Test
    void theSameFewPagesServeManyRounds() throws IOException {
        Map<Integer, Integer> opened = new HashMap<>();
        try (SlabPool pool = pools.listener(counting(opened)).build()) {
            for (int round = 0; round < 10_000; round++) {
                Extent first = pool.allocate(PAGE);
                Extent second = pool.allocate(3 * PAGE);
                pool.free(first);
                pool.free(second);
                pools.clock.advance(QUARANTINE);
            }
            assertEquals(Map.of(1, 1), opened);
            assertEquals(SLAB, pool.usage().memoryPeak());
        }
    }

    @Test
    void maintenanceKeepsASlabAheadOnceThePoolIsUsed() throws IOException {
        try (SlabPool pool = pools.slabsAhead(2).build()) {
            pool.maintain();
            assertEquals(0, pool.usage().memory(), "an executor without shuffles takes nothing");
            pool.allocate(PAGE);
            for (int i = 0; i < 8; i++) {
                pool.maintain();
            }
            assertEquals(3 * SLAB, pool.usage().memory(), "two whole slabs free beside the first");
            assertEquals(0, pool.usage().overflow(), "nothing is made ahead on disk");
        }
    }

    @Test
    void idleSlabsGoBackAfterAWhileTheYoungestFirstAndAFreeOneStays() throws IOException {
        try (SlabPool pool = pools.build()) {
            List<Extent> extents = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                extents.add(pool.allocate(SLAB));
            }
            extents.subList(1, 4).forEach(pool::free);
            pools.clock.advance(QUARANTINE);
            pool.maintain();
            pools.clock.advance(IDLE.minusNanos(1));
            pool.maintain();
            assertEquals(4 * SLAB, pool.usage().memory(), "not yet");

            pools.clock.advance(Duration.ofNanos(1));
            pool.maintain();
            assertEquals(2 * SLAB, pool.usage().memory(), "what is in use, and one that is free");
            assertEquals(4 * SLAB, pool.usage().memoryPeak());
            assertEquals(2, memory.openFiles());
            assertEquals(2, mappings(memory.path()), "given back at once, not when the collector looks");

            assertEquals(2, pool.allocate(PAGE).slab().id(), "the older one stayed");
            Extent again = pool.allocate(SLAB);
            again.view().putInt(0, 42);
            assertEquals(3 * SLAB, pool.usage().memory());
            assertEquals(42, again.view().getInt(0));
        }
    }

    @Test
    void aSlabThatWasUsedInBetweenIsNotIdle() throws IOException {
        try (SlabPool pool = pools.build()) {
            Extent first = pool.allocate(SLAB);
            pool.free(pool.allocate(SLAB));
            pools.clock.advance(QUARANTINE);
            pool.maintain();
            for (int round = 0; round < 5; round++) {
                pools.clock.advance(IDLE.minusNanos(1));
                pool.free(pool.allocate(SLAB));
                pools.clock.advance(QUARANTINE);
                pool.maintain();
            }
            pool.free(first);
            pools.clock.advance(QUARANTINE);
            pool.maintain();
            assertEquals(2 * SLAB, pool.usage().memory());
        }
    }

    @Test
    void idleOverflowSlabsAreClosedByMaintenanceAndMemoryStays() throws IOException {
        Map<Integer, Integer> opened = new HashMap<>();
        try (SlabPool pool =
                pools.memory(memory.path(), SLAB).listener(counting(opened)).build()) {
            Extent inMemory = pool.allocate(SLAB);
            Extent onDisk = pool.allocate(SLAB);
            pool.free(onDisk);
            pool.maintain();
            assertEquals(SLAB, pool.usage().overflow(), "its extent still rests");
            pools.clock.advance(QUARANTINE);
            pool.maintain();
            assertEquals(0, pool.usage().overflow());
            assertEquals(SLAB, pool.usage().overflowPeak());
            assertEquals(SLAB, pool.usage().memory());

            Extent again = pool.allocate(SLAB);
            assertEquals(onDisk.slab().id(), again.slab().id(), "its id is free again");
            assertNotEquals(onDisk.slab().generation(), again.slab().generation());
            pool.free(inMemory);
        }
    }

    @Test
    void theListenerKnowsASlabBeforeItsExtentsAndUntilItGoes() throws IOException {
        List<String> events = new ArrayList<>();
        SlabPool pool = pools.listener(new SlabListener() {
                    @Override
                    public void slabOpened(Slab slab) {
                        events.add("opened " + slab.id() + " " + slab.freeBytes());
                    }

                    @Override
                    public void slabClosed(Slab slab) {
                        events.add("closed " + slab.id());
                    }
                })
                .build();
        Extent extent = pool.allocate(PAGE);
        events.add("extent of " + extent.slab().id());
        pool.close();
        pool.close();
        assertEquals(List.of("opened 1 " + SLAB, "extent of 1", "closed 1"), events);
    }

    @Test
    void aListenerThatFailsLeavesNoSlabBehind() throws IOException {
        SlabPool pool = pools.listener(new SlabListener() {
                    @Override
                    public void slabOpened(Slab slab) {
                        throw new IllegalStateException("no room in the slab table");
                    }

                    @Override
                    public void slabClosed(Slab slab) {}
                })
                .build();
        IOException failure = assertThrows(IOException.class, () -> pool.allocate(PAGE));
        assertTrue(failure.getMessage().contains("no room in the slab table"), failure.getMessage());
        assertEquals(0, pool.usage().memory());
        assertEquals(0, memory.openFiles());
        pool.close();
    }

    @Test
    void aListenerThatFailsAtTheEndKeepsNoOtherSlabOpen() throws IOException {
        SlabPool pool = pools.listener(new SlabListener() {
                    @Override
                    public void slabOpened(Slab slab) {}

                    @Override
                    public void slabClosed(Slab slab) {
                        throw new IllegalStateException("the directory is gone");
                    }
                })
                .build();
        pool.allocate(SLAB);
        pool.allocate(SLAB);
        pool.close();
        assertEquals(0, memory.openFiles());
    }

    @Test
    void trimmingGivesTheEndBackAtOnce() throws IOException {
        try (SlabPool pool = pools.memory(memory.path(), SLAB).build()) {
            Extent extent = pool.allocate(SLAB);
            Extent trimmed = pool.trim(extent, PAGE + 1);
            assertEquals(new Extent(extent.slab(), extent.offset(), 2 * PAGE), trimmed);
            assertEquals(2 * PAGE, pool.usage().used());
            assertEquals(0, pool.usage().quarantined());
            assertSame(trimmed, pool.trim(trimmed, 2 * PAGE));
            assertFalse(pool.allocate(SLAB / 2).slab().isOverflow());
        }
    }

    @Test
    void whatIsGivenBackTwiceIsRefusedWhereItHappens() throws IOException {
        try (SlabPool pool = pools.build()) {
            Extent extent = pool.allocate(4 * PAGE);
            Extent trimmed = pool.trim(extent, PAGE);
            assertThrows(IllegalStateException.class, () -> pool.free(extent), "it was replaced by the trimmed one");
            assertThrows(IllegalStateException.class, () -> pool.trim(extent, PAGE));
            pool.free(trimmed);
            IllegalStateException twice = assertThrows(IllegalStateException.class, () -> pool.free(trimmed));
            assertTrue(twice.getMessage().contains("given back twice"), twice.getMessage());
            assertEquals(PAGE, pool.usage().quarantined());
            pools.clock.advance(QUARANTINE);
            pool.allocate(PAGE);
            assertEquals(PAGE, pool.usage().used());
        }
    }

    @Test
    void afterCloseNothingIsAllocatedAndLateFreesAreCounted() throws IOException {
        SlabPool pool = pools.build();
        Extent resting = pool.allocate(PAGE);
        Extent late = pool.allocate(PAGE);
        pool.free(resting);
        pool.close();
        IOException refused = assertThrows(IOException.class, () -> pool.allocate(PAGE));
        assertTrue(refused.getMessage().contains("the executor is stopping"), refused.getMessage());
        assertEquals(new PoolUsage(4 * SLAB, 0, SLAB, 0, 0, PAGE, 0), pool.usage());
        late.view().putInt(0, 42);
        assertEquals(42, late.view().getInt(0), "memory that is out stays valid");
        pool.free(late);
        assertEquals(0, pool.usage().used());
        pool.maintain();
        assertEquals(0, pool.usage().memory());
    }

    @Test
    void aLeakHasAName() throws IOException {
        SlabPool pool = pools.leakDetection().build();
        Extent kept = leakHere(pool);
        pool.free(pool.allocate(PAGE));
        pool.trim(kept, PAGE);
        assertEquals(1, pool.allocationSites().size());
        Throwable site = pool.allocationSites().get(0);
        assertTrue(List.of(site.getStackTrace()).stream()
                .anyMatch(frame -> frame.getMethodName().equals("leakHere")));
        pool.close();
        assertEquals(1, pool.allocationSites().size(), "still known after close");
    }

    @Test
    void sizesThatFitNoSlabAreRefusedBeforeAnythingIsTaken() throws IOException {
        try (SlabPool pool = pools.build()) {
            for (long bytes : new long[] {(1L << 30) + 1, 1L << 31, (1L << 62) + 1, Long.MAX_VALUE}) {
                IOException refused = assertThrows(IOException.class, () -> pool.allocate(bytes));
                assertTrue(refused.getMessage().contains(Long.toString(bytes)), refused.getMessage());
            }
            assertEquals(new PoolUsage(4 * SLAB, 0, 0, 0, 0, 0, 0), pool.usage());
            assertEquals(PAGE, pool.allocate(0).length());
        }
    }

    @Test
    void anExtentLargerThanASlabGetsASlabOfItsOwnSize() throws IOException {
        try (SlabPool pool = pools.build()) {
            Extent extent = pool.allocate(SLAB + 1);
            assertEquals(2 * SLAB, extent.slab().length());
            assertEquals(2 * SLAB, pool.usage().memory());
            assertEquals(SLAB, pool.maxExtent());
        }
    }

    private static long mappings(Path directory) throws IOException {
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return maps.filter(line -> line.contains(directory.toString())).count();
        }
    }

    private static Extent leakHere(SlabPool pool) throws IOException {
        return pool.allocate(2 * PAGE);
    }

    private static SlabListener counting(Map<Integer, Integer> opened) {
        return new SlabListener() {
            @Override
            public void slabOpened(Slab slab) {
                opened.merge(slab.id(), 1, Integer::sum);
            }

            @Override
            public void slabClosed(Slab slab) {}
        };
    }
}
