/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.transport.api.HostIdentity;
import org.sparkrdma.transport.api.ProcessIdentity;
import org.sparkrdma.transport.support.ForkedJvm;
import org.sparkrdma.transport.support.MemoryDirectory;
import org.sparkrdma.transport.support.TmpfsMount;

class SegmentFileTest {
    private static final long BYTES = 1 << 20;

    private final SegmentFile.Factory files = new SegmentFile.Factory();

    @TempDir
    Path disk;

    private MemoryDirectory memory;

    @BeforeEach
    void openMemory() throws IOException {
        memory = MemoryDirectory.create(32 * BYTES);
    }

    @AfterEach
    void closeMemory() throws IOException {
        memory.close();
    }

    @Test
    void hasNoNameIsFoundByItsDescriptorAndIsItsOwnersAlone() throws IOException {
        assumeTrue(files.anonymity().isAvailable(), files.anonymity().unavailabilityCause());
        try (SegmentFile file = files.create(memory.path(), BYTES)) {
            assertEquals(List.of(), names());
            assertTrue(file.shared().isAnonymous());
            assertEquals(1, memory.openFiles());
            Path found = Path.of("/proc/self/fd/" + file.shared().descriptor());
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(found)));
            assertEquals(BYTES, Files.size(found));
            file.memory().putLong(4096, 42);
            try (FileChannel channel = FileChannel.open(found)) {
                ByteBuffer read = ByteBuffer.allocate(8);
                assertEquals(8, channel.read(read, 4096));
                assertEquals(42, read.getLong(0));
            }
        }
    }

    @Test
    void everyPageIsThereFromTheStart() throws IOException {
        try (TmpfsMount mount = TmpfsMount.create(disk, 4 * BYTES);
                SegmentFile file = files.create(mount.path(), 3 * BYTES)) {
            assertEquals(BYTES, mount.usable());
            assertEquals(3 * BYTES, file.memory().capacity());
        }
    }

    @Test
    void closingGivesUpTheDescriptorAndLeavesTheMemoryReadable() throws IOException {
        SegmentFile file = files.create(memory.path(), BYTES);
        file.memory().putInt(0, 7);
        file.close();
        file.close();
        assertEquals(7, file.memory().getInt(0));
        assertEquals(List.of(), names());
    }

    @Test
    void nothingIsLeftWhenCreationFails() throws IOException {
        assertThrows(IOException.class, () -> files.create(memory.path().resolve("absent"), BYTES));
        assertThrows(IllegalArgumentException.class, () -> files.create(memory.path(), 1L << 31));
        assertThrows(IllegalArgumentException.class, () -> files.create(memory.path(), 0));
        Thread.currentThread().interrupt();
        assertThrows(ClosedByInterruptException.class, () -> files.create(memory.path(), BYTES));
        assertTrue(Thread.interrupted());
        assertEquals(List.of(), names());
        assertEquals(0, memory.openFiles());
    }

    @Test
    void aNameThatIsTakenIsLeftAlone() throws IOException {
        SegmentFile first = files.create(memory.path(), BYTES);
        first.close();
        Path taken = SegmentNames.of(memory.path(), ProcessIdentity.current(), first.sequence() + 1);
        Files.writeString(taken, "somebody's");
        IOException failure = assertThrows(IOException.class, () -> files.create(memory.path(), BYTES));
        assertTrue(failure.getMessage().contains(taken.toString()), failure.getMessage());
        assertEquals("somebody's", Files.readString(taken));
    }

    @Test
    void killedProcessesLeaveNothing() throws IOException {
        assumeTrue(files.anonymity().isAvailable(), files.anonymity().unavailabilityCause());
        try (ForkedJvm holder =
                ForkedJvm.start(SegmentHolder.class, true, memory.path().toString(), "4", Long.toString(BYTES))) {
            assertEquals("true 4", holder.readLine());
            assertEquals(List.of(), names());
            holder.kill();
        }
        assertEquals(List.of(), names());
    }

    @Test
    void killedProcessesGiveTheirPagesBack() throws IOException {
        assumeTrue(files.anonymity().isAvailable(), files.anonymity().unavailabilityCause());
        try (TmpfsMount mount = TmpfsMount.create(disk, 8 * BYTES);
                ForkedJvm holder = ForkedJvm.start(
                        SegmentHolder.class, true, mount.path().toString(), "4", Long.toString(BYTES))) {
            assertEquals("true 4", holder.readLine());
            assertEquals(4 * BYTES, mount.usable());
            holder.kill();
            assertEquals(8 * BYTES, mount.usable());
        }
    }

    @Test
    void namedSegmentsOfDeadProcessesAreSweptAndThoseOfLivingOnesNever() throws IOException {
        try (ForkedJvm holder =
                ForkedJvm.start(SegmentHolder.class, false, memory.path().toString(), "2", Long.toString(BYTES))) {
            assertEquals("false 2", holder.readLine(), "without --add-opens files keep their names");
            List<String> held = names();
            assertEquals(2, held.size());
            for (String name : held) {
                assertEquals(
                        "rw-------",
                        PosixFilePermissions.toString(
                                Files.getPosixFilePermissions(memory.path().resolve(name))));
            }
            assertEquals(List.of(), SegmentNames.sweep(memory.path()));
            assertEquals(held, names());
            holder.kill();
            assertEquals(2, SegmentNames.sweep(memory.path()).size());
            assertEquals(List.of(), names());
        }
    }

    @Test
    void theSweepLeavesAloneWhatItCannotJudge() throws IOException {
        Path own = SegmentNames.of(memory.path(), ProcessIdentity.current(), 1);
        String namespace = HostIdentity.current().pidNamespace().replaceAll("\\D", "");
        assumeFalse(namespace.isEmpty(), "this system has no process-id namespaces");
        List<String> kept = List.of(
                own.getFileName().toString(),
                "spark-rdma-shuffle-" + namespace + "1-99999999-1-0", // Another container's.
                "spark-rdma-shuffle-" + namespace + "-99999999999999999999999999-1-0",
                "spark-rdma-shuffle-notes",
                "something-else");
        for (String name : kept) {
            Files.createFile(memory.path().resolve(name));
        }
        // Same process id as this one, another start: an earlier process.
        Path earlier = SegmentNames.of(
                memory.path(), new ProcessIdentity(ProcessHandle.current().pid(), 1), 0);
        Files.createFile(earlier);
        assertTrue(SegmentNames.isSegment(earlier));
        assertFalse(SegmentNames.isSegment(memory.path().resolve("something-else")));

        assertEquals(List.of(earlier), SegmentNames.sweep(memory.path()));
        assertEquals(kept.stream().sorted().toList(), names());
        assertThrows(IOException.class, () -> SegmentNames.sweep(memory.path().resolve("absent")));
    }

    @Test
    void theSweepGoesOnBehindAFileThatItMayNotDelete() throws IOException {
        Path undeletable = SegmentNames.of(memory.path(), new ProcessIdentity(99_999_999, 1), 0);
        Files.createDirectories(undeletable.resolve("not empty"));
        Path orphan = SegmentNames.of(memory.path(), new ProcessIdentity(99_999_999, 1), 1);
        Files.createFile(orphan);
        assertEquals(List.of(orphan), SegmentNames.sweep(memory.path()));
    }

    private List<String> names() throws IOException {
        try (var found = Files.list(memory.path())) {
            return found.map(path -> path.getFileName().toString()).sorted().toList();
        }
    }
}
