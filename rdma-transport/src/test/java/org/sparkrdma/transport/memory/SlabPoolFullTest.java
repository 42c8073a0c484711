/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.sparkrdma.transport.memory.TestPools.SLAB;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.transport.support.MemoryDirectory;
import org.sparkrdma.transport.support.TmpfsMount;

/** What a pool does when budget, file system or machine have no more. */
class SlabPoolFullTest {
    @TempDir
    Path disk;

    private final TestPools pools = new TestPools();

    @Test
    void aBudgetSmallerThanASlabMeansThatAllGoesToDisk() throws IOException {
        try (MemoryDirectory memory = MemoryDirectory.create(SLAB);
                SlabPool pool = pools.memory(memory.path(), SLAB - 1)
                        .overflow(disk)
                        .slabsAhead(1)
                        .build()) {
            assertTrue(pool.allocate(1).slab().isOverflow());
            pool.maintain();
            assertEquals(0, pool.usage().memory());
        }
    }

    @Test
    void aMemoryDirectoryThatIsNotThereMeansDiskUntilItIs() throws IOException {
        Path directory = disk.resolve("memory");
        try (SlabPool pool = pools.memory(directory, 4 * SLAB).overflow(disk).build()) {
            assertTrue(pool.allocate(SLAB).slab().isOverflow());
            Files.createDirectory(directory);
            assertTrue(pool.allocate(SLAB).slab().isOverflow(), "not looked at again so soon");
            pools.clock.advance(Duration.ofSeconds(10));
            assertFalse(pool.allocate(SLAB).slab().isOverflow());
        }
    }

    @Test
    void noMemoryDirectoryAtAllMeansDisk() throws IOException {
        try (SlabPool pool = pools.overflow(disk).slabsAhead(1).build()) {
            assertTrue(pool.allocate(SLAB).slab().isOverflow());
            pool.maintain();
            assertEquals(0, pool.usage().memory());
        }
    }

    @Test
    void aMachineShortOfMemoryMeansDiskUntilItIsNot() throws IOException {
        AtomicBoolean hasMemory = new AtomicBoolean();
        try (MemoryDirectory memory = MemoryDirectory.create(2 * SLAB);
                SlabPool pool = pools.memory(memory.path(), 4 * SLAB)
                        .overflow(disk)
                        .guard(bytes -> hasMemory.get())
                        .build()) {
            assertTrue(pool.allocate(SLAB).slab().isOverflow());
            hasMemory.set(true);
            pools.clock.advance(Duration.ofSeconds(10));
            assertFalse(pool.allocate(SLAB).slab().isOverflow());
        }
    }

    @Test
    void aFullMemoryFileSystemMeansDiskAndLeavesNothingBehind() throws IOException {
        try (TmpfsMount mount = TmpfsMount.create(disk, 3 * SLAB);
                SlabPool pool =
                        pools.memory(mount.path(), 64 * SLAB).overflow(disk).build()) {
            for (int i = 0; i < 3; i++) {
                assertFalse(pool.allocate(SLAB).slab().isOverflow());
            }
            Extent fourth = pool.allocate(SLAB);
            assertTrue(fourth.slab().isOverflow());
            try (var files = Files.list(mount.path())) {
                assertEquals(0, files.count());
            }
            fourth.view().put(0, new byte[(int) SLAB]);
        }
    }

    @Test
    void aFileSystemThatFillsUpWhileASlabIsTouchedMeansTheSame() throws IOException {
        try (TmpfsMount mount = TmpfsMount.create(disk, 3 * SLAB)) {
            SegmentFile.Factory files = new SegmentFile.Factory();
            IOException full = assertThrows(IOException.class, () -> files.create(mount.path(), 4 * SLAB));
            assertTrue(full.getMessage().contains("No space left"), full.getMessage());
            assertEquals(3 * SLAB, mount.usable(), "nothing is left behind");
            files.create(mount.path(), 3 * SLAB).close();
        }
    }

    @Test
    void whenDiskIsImpossibleTooTheErrorNamesValueLimitAndRemedy() throws IOException {
        Path absent = disk.resolve("absent");
        Path file = Files.createFile(disk.resolve("file"));
        try (MemoryDirectory memory = MemoryDirectory.create(2 * SLAB);
                SlabPool pool =
                        pools.memory(memory.path(), SLAB).overflow(absent, file).build()) {
            pool.allocate(SLAB);
            IOException failure = assertThrows(IOException.class, () -> pool.allocate(SLAB / 2));
            String message = failure.getMessage();
            assertTrue(message.contains("needs " + SLAB / 2 + " bytes"), message);
            assertTrue(message.contains(SLAB + " of spark.shuffle.rdma.memory.max=" + SLAB), message);
            assertTrue(message.contains("in " + absent + ": "), message);
            assertTrue(message.contains("in " + file + ": "), message);
            assertTrue(message.contains("NoSuchFile"), message);
            assertTrue(message.contains("spark.shuffle.rdma.overflow.dirs"), message);
            assertTrue(message.contains("raise the budget"), message);
        }
    }

    @Test
    void theErrorAlsoSaysWhySharedMemoryWasRefused() {
        Path absent = disk.resolve("absent");
        try (SlabPool pool = pools.memory(absent, 4 * SLAB).build()) {
            String message =
                    assertThrows(IOException.class, () -> pool.allocate(SLAB)).getMessage();
            assertTrue(message.contains("no further slab of " + SLAB + " bytes in " + absent), message);
            assertTrue(message.contains("there is no directory on local disk"), message);
        }
    }

    @Test
    void overflowDirectoriesAreUsedInTurnAndBadOnesAreSteppedOver() throws IOException {
        Path good = Files.createDirectory(disk.resolve("good"));
        try (SlabPool pool = pools.overflow(disk.resolve("absent"), good).build()) {
            for (int i = 0; i < 5; i++) {
                assertTrue(pool.allocate(SLAB).slab().isOverflow());
            }
        }
    }

    @Test
    void whenAllIdsAreTakenTheErrorSaysWhichSettingHelps() throws IOException {
        try (SlabPool pool = pools.overflow(disk).maxSlabs(3).build()) {
            pool.allocate(SLAB);
            pool.allocate(SLAB);
            String message =
                    assertThrows(IOException.class, () -> pool.allocate(SLAB)).getMessage();
            assertTrue(message.contains("all 2 slab ids are taken"), message);
            assertTrue(message.contains("spark.shuffle.rdma.slab.size"), message);
        }
    }

    @Test
    void aTaskThatIsKilledWhileItGrowsThePoolDoesNotSendTheOthersToDisk() throws IOException {
        try (MemoryDirectory memory = MemoryDirectory.create(2 * SLAB);
                SlabPool pool = pools.memory(memory.path(), SLAB).overflow(disk).build()) {
            Thread.currentThread().interrupt();
            assertThrows(ClosedByInterruptException.class, () -> pool.allocate(SLAB));
            assertTrue(Thread.interrupted(), "the interrupt is still there");
            assertFalse(pool.allocate(SLAB).slab().isOverflow());
            Thread.currentThread().interrupt();
            assertThrows(ClosedByInterruptException.class, () -> pool.allocate(SLAB));
            assertTrue(Thread.interrupted());
            assertTrue(pool.allocate(SLAB).slab().isOverflow());
        }
    }
}
