/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.catalog;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog.MapOutputId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.transport.memory.ExtentChain;
import org.sparkrdma.transport.wire.DirectoryEntryLayout.Entry;
import org.sparkrdma.transport.wire.PartitionIndexLayout;

/** Whatever a directory or an index holds: readers get the right bytes or an IOException, nothing else. */
class WildIndexTest {
    private static final int PARTITIONS = 12;

    @TempDir
    private Path home;

    private ExecutorMemory memory;
    private MapOutputCatalogTest.Peer peer;
    private final byte[][] partitions = new byte[PARTITIONS][];
    private ExtentChain data;
    private Entry entry;

    @BeforeEach
    void publish() throws IOException {
        memory = new ExecutorMemory(home);
        peer = new MapOutputCatalogTest.Peer(memory);
        Random random = new Random(1);
        for (int i = 0; i < PARTITIONS; i++) {
            partitions[i] = new byte[i % 3 == 1 ? 0 : random.nextInt(20_000)];
            random.nextBytes(partitions[i]);
        }
        data = memory.publish(1, 2, partitions);
        entry = PeerDirectory.lookup(peer, 1, 2).orElseThrow();
    }

    @AfterEach
    void close() throws IOException {
        memory.close();
    }

    @Test
    void everyFlippedBitOfTheIndexIsNoticedOrHarmless() {
        ByteBuffer slab = memory.memory(entry.indexSlab());
        for (int at = 0; at < entry.indexLength(); at++) {
            for (int bit = 0; bit < 8; bit++) {
                ExecutorMemory.flip(slab, (int) entry.indexOffset() + at, 1 << bit);
                readsTheTruthOrFails(0, PARTITIONS);
                readsTheTruthOrFails(at % PARTITIONS, PARTITIONS);
                ExecutorMemory.flip(slab, (int) entry.indexOffset() + at, 1 << bit);
            }
        }
    }

    @Test
    void anIndexOverwrittenByRandomBytesIsRefused() {
        ByteBuffer slab = memory.memory(entry.indexSlab());
        Random random = new Random(2);
        byte[] whole = new byte[entry.indexLength()];
        slab.get((int) entry.indexOffset(), whole);
        for (int i = 0; i < 5_000; i++) {
            byte[] wild = whole.clone();
            int from = random.nextInt(wild.length);
            int count = 1 + random.nextInt(wild.length - from);
            byte[] noise = new byte[count];
            random.nextBytes(noise);
            if (i % 3 == 0) {
                Arrays.fill(noise, (byte) (i % 2 == 0 ? 0 : 0xff));
            }
            System.arraycopy(noise, 0, wild, from, count);
            slab.put((int) entry.indexOffset(), wild);
            int start = random.nextInt(PARTITIONS);
            readsTheTruthOrFails(start, start + 1 + random.nextInt(PARTITIONS - start));
        }
    }

    @Test
    void theIndexOfAnotherMapOutputUnderTheOldEntryIsRefused() throws IOException {
        memory.publish(1, 3, partitions);
        Entry other = PeerDirectory.lookup(peer, 1, 3).orElseThrow();
        ByteBuffer slab = memory.memory(entry.indexSlab());
        byte[] tables = new byte[entry.indexLength() - PartitionIndexLayout.HEADER_BYTES];
        memory.memory(other.indexSlab()).get((int) other.indexOffset() + PartitionIndexLayout.HEADER_BYTES, tables);
        // The header is still the old one, as a reader sees it that is overtaken between its two reads.
        slab.put((int) entry.indexOffset() + PartitionIndexLayout.HEADER_BYTES, tables);

        assertThrows(IOException.class, () -> read(0, PARTITIONS));
        assertThrows(IOException.class, () -> read(1, 2));
    }

    @Test
    void anEmptyPartitionOfARecycledIndexIsNotTakenForEmpty() {
        ByteBuffer slab = memory.memory(entry.indexSlab());
        for (int at = PartitionIndexLayout.HEADER_BYTES; at < entry.indexLength(); at++) {
            slab.put((int) entry.indexOffset() + at, (byte) 0);
        }

        assertThrows(IOException.class, () -> read(0, 1));
        assertThrows(IOException.class, () -> read(0, PARTITIONS));
    }

    @Test
    void wildEntriesAreRefusedWithoutMemoryBeingTakenForThem() {
        int huge = Integer.MAX_VALUE;
        Entry[] wild = {
            new Entry(1, 2, entry.generation(), huge, entry.indexSlab(), entry.indexOffset(), huge, 0, false),
            new Entry(1, 2, entry.generation(), huge, entry.indexSlab(), Long.MAX_VALUE, huge, 0, false),
            new Entry(1, 2, entry.generation(), PARTITIONS, 4095, 0, huge, 0, false),
            new Entry(1, 2, entry.generation(), PARTITIONS, huge, 0, huge, 0, false),
            new Entry(
                    1, 2, entry.generation(), PARTITIONS, entry.indexSlab(), entry.indexOffset() + 64, 4096, 0, false),
            new Entry(1, 2, entry.generation(), PARTITIONS, entry.indexSlab(), entry.indexOffset(), 0, 0, false)
        };
        for (Entry wrong : wild) {
            assertThrows(IOException.class, () -> BlockReader.read(peer, wrong, 0, wrong.partitions()));
            assertThrows(
                    IOException.class, () -> BlockReader.read(peer, wrong, wrong.partitions() - 1, wrong.partitions()));
        }
    }

    @Test
    void everyFlippedByteOfTheDirectoryIsNoticedOrHarmless() throws IOException {
        ByteBuffer directory = memory.memory(0);
        byte[] before = new byte[directory.capacity()];
        directory.get(0, before);
        Random random = new Random(4);
        for (int at = 0; at < before.length; at++) {
            // The header, and then where something is.
            if (at < 600 || before[at] != 0 || random.nextInt(2_000) == 0) {
                ExecutorMemory.flip(directory, at, 1 + random.nextInt(255));
                try {
                    PeerDirectory.lookup(peer, 1, 2).ifPresent(found -> assertEquals(entry, found));
                } catch (IOException e) {
                    // Noticed.
                }
                directory.put(at, before[at]);
            }
        }
    }

    @Test
    void everyFlippedByteOfTheDataIsNoticed() {
        Random random = new Random(5);
        for (int i = 0; i < 300; i++) {
            long at = (long) (random.nextDouble() * data.length());
            ExecutorMemory.flip(data, at);
            ChecksumMismatchException noticed =
                    assertThrows(ChecksumMismatchException.class, () -> read(0, PARTITIONS));
            assertTrue(noticed.getMessage().contains("block of the test"), noticed.getMessage());
            ExecutorMemory.flip(data, at);
        }
    }

    private void readsTheTruthOrFails(int start, int end) {
        try {
            assertArrayEquals(expected(start, end), read(start, end));
        } catch (IOException e) {
            // Noticed.
        }
    }

    private byte[] read(int start, int end) throws IOException {
        MapOutput output = memory.catalog().acquire(new MapOutputId(1, 2)).orElseThrow();
        try (StoredBlock own = memory.catalog().read(output, start, end)) {
            own.verify("block of the test");
        } finally {
            output.release();
        }
        try (StoredBlock block = BlockReader.read(peer, entry, start, end)) {
            block.verify("block of the test");
            assertEquals(end - start, block.lengths().length);
            for (int i = start; i < end; i++) {
                assertEquals(partitions[i].length, block.lengths()[i - start]);
            }
            return ExecutorMemory.bytes(block.slices());
        }
    }

    private byte[] expected(int start, int end) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int i = start; i < end; i++) {
            out.writeBytes(partitions[i]);
        }
        return out.toByteArray();
    }
}
