/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.sparkrdma.transport.api.PeerEndpoint;
import org.sparkrdma.transport.api.PeerEndpoint.Token;
import org.sparkrdma.transport.api.PeerSession;
import org.sparkrdma.transport.api.ReadLease;
import org.sparkrdma.transport.api.RemoteRange;
import org.sparkrdma.transport.api.TransportException;
import org.sparkrdma.transport.wire.DirectoryEntryLayout;
import org.sparkrdma.transport.wire.DirectoryEntryLayout.Entry;
import org.sparkrdma.transport.wire.DirectoryLayout;
import org.sparkrdma.transport.wire.TornReadException;

/** What every transport keeps to, shown on a peer in a process of its own. */
public abstract class TransportContractTest extends PeerFixture {
    @Test
    void anyRangeOfASlabCanBeRead() throws Exception {
        PeerExtent extent = allocate(TestPeer.SLAB, 1);
        assertEquals(TestPeer.SLAB, extent.length());
        try (PeerSession session = transport.connect(endpoint)) {
            assertEquals(endpoint, session.peer());
            assertTrue(session.isAlive());
            assertFalse(session.isOverflow(extent.slab()));
            assertFalse(session.isOverflow(DirectoryLayout.DIRECTORY_SLAB));
            assertHolds(session, extent, 0, 0);
            assertHolds(session, extent, extent.length(), 0);
            assertHolds(session, extent, 0, 1);
            assertHolds(session, extent, extent.length() - 1, 1);
            assertHolds(session, extent, 0, extent.length());
            Random random = new Random(1);
            for (int i = 0; i < 200; i++) {
                long from = random.nextInt((int) extent.length());
                assertHolds(session, extent, from, random.nextInt((int) (extent.length() - from)));
            }
        }
    }

    @Test
    void whatIsWrittenLaterIsReadLater() throws Exception {
        try (PeerSession session = transport.connect(endpoint)) {
            for (int seed = 0; seed < 20; seed++) {
                PeerExtent extent = allocate(4096, seed);
                assertHolds(session, extent, 0, extent.length());
            }
        }
    }

    @Test
    void rangesOutsideAreRefusedAndThePeerIsNamed() throws Exception {
        PeerExtent extent = allocate(4096, 1);
        try (PeerSession session = transport.connect(endpoint)) {
            long slab = TestPeer.SLAB;
            for (RemoteRange range : List.of(
                    new RemoteRange(extent.slab(), slab, 1),
                    new RemoteRange(extent.slab(), slab - 1, 2),
                    new RemoteRange(extent.slab(), slab + 1, 0),
                    new RemoteRange(extent.slab(), 0, slab + 1),
                    new RemoteRange(extent.slab(), Long.MAX_VALUE, 1),
                    new RemoteRange(extent.slab(), Long.MAX_VALUE - 5, Integer.MAX_VALUE),
                    new RemoteRange(DirectoryLayout.DIRECTORY_SLAB, DirectoryLayout.REGION_BYTES, 1),
                    new RemoteRange(63, 0, 1),
                    new RemoteRange(100_000, 0, 1),
                    new RemoteRange(Integer.MAX_VALUE, 0, 0))) {
                assertNamesPeer(refused(session, range));
            }
            assertNamesPeer(assertThrows(TransportException.class, () -> session.isOverflow(63)));
            assertThrows(TransportException.class, () -> session.isOverflow(-1));
            assertHolds(session, extent, 0, extent.length());
        }
    }

    @Test
    void anOverflowSlabCanBeReadAndSaysSo() throws Exception {
        PeerExtent extent = allocateOverflow(3);
        try (PeerSession session = transport.connect(endpoint)) {
            assertTrue(session.isOverflow(extent.slab()));
            assertHolds(session, extent, 0, extent.length());
        }
    }

    @Test
    void aLeaseIsReadOnlyAndValidUntilItIsClosed() throws Exception {
        PeerExtent extent = allocate(4096, 1);
        try (PeerSession session = transport.connect(endpoint)) {
            ReadLease lease = session.read(extent.range()).get();
            assertTrue(lease.bytes().isReadOnly());
            lease.bytes().position(100);
            assertEquals(0, lease.bytes().position(), "each caller has a position of its own");
            assertEquals(extent.length(), lease.bytes().remaining());
            lease.close();
            lease.close();
            assertThrows(IllegalStateException.class, lease::bytes);
            assertHolds(session, extent, 0, extent.length());
        }
    }

    @Test
    void aSessionThatIsClosedLetsItsLeasesFinish() throws Exception {
        PeerExtent extent = allocate(TestPeer.SLAB, 1);
        PeerSession session = transport.connect(endpoint);
        ReadLease lease = session.read(extent.range()).get();
        ReadLease directory = session.read(new RemoteRange(DirectoryLayout.DIRECTORY_SLAB, 0, 4096))
                .get();
        session.close();
        session.close();
        assertFalse(session.isAlive());
        session.dropStale();
        assertNamesPeer(refused(session, extent.range()));
        assertThrows(TransportException.class, () -> session.isOverflow(extent.slab()));
        assertHolds(lease.bytes(), extent, 0);
        assertEquals(List.of(), segmentsMissing(directory));
        lease.close();
        directory.close();
    }

    @Test
    void bytesThatAreOutOutliveAPeerThatIsKilled() throws Exception {
        PeerExtent extent = allocate(TestPeer.SLAB, 1);
        PeerExtent onDisk = allocateOverflow(2);
        try (PeerSession session = transport.connect(endpoint);
                ReadLease lease = session.read(extent.range()).get();
                ReadLease overflow = session.read(onDisk.range()).get()) {
            assertTrue(session.isAlive());
            peer.kill();
            assertFalse(session.isAlive());
            assertHolds(lease.bytes(), extent, 0);
            assertHolds(overflow.bytes(), onDisk, 0);
            session.dropStale();
            assertHolds(lease.bytes(), extent, 0);
        }
    }

    @Test
    void aPeerThatHasClosedItsDirectoryIsNotAlive() throws Exception {
        try (PeerSession session = transport.connect(endpoint)) {
            assertTrue(session.isAlive());
            peer.ask("close");
            assertFalse(session.isAlive());
            assertNamesPeer(assertThrows(TransportException.class, () -> transport.connect(endpoint)));
        }
    }

    @Test
    void aSlabIdThatIsUsedAgainIsTheNewSlab() throws Exception {
        PeerExtent old = allocateOverflow(1);
        try (PeerSession session = transport.connect(endpoint);
                ReadLease lease = session.read(old.range()).get()) {
            peer.ask("free " + old.number());
            peer.ask("maintain");
            session.dropStale();
            assertNamesPeer(refused(session, old.range()));
            PeerExtent fresh = allocate(TestPeer.SLAB, 2);
            assertEquals(old.slab(), fresh.slab());
            session.dropStale();
            assertHolds(session, fresh, 0, fresh.length());
            assertHolds(lease.bytes(), old, 0);
        }
    }

    @Test
    void whoeverIsNotThePeerIsRefusedByName() throws Exception {
        Token token = endpoint.token();
        for (Token wrong : List.of(
                new Token(token.high() ^ 1, token.low()), new Token(token.high(), ~token.low()), new Token(0, 0))) {
            TransportException refusal = assertThrows(
                    TransportException.class,
                    () -> transport.connect(new PeerEndpoint(
                            endpoint.executorId(), endpoint.host(), endpoint.process(), endpoint.directory(), wrong)));
            assertNamesPeer(refusal);
            assertFalse(refusal.getMessage().contains(Long.toString(token.low())), "no token reaches a log");
        }
        peer.ask("version");
        String version = assertThrows(TransportException.class, () -> transport.connect(endpoint))
                .getMessage();
        assertTrue(version.contains("version 2"), version);
        peer.ask("garbage");
        assertNamesPeer(assertThrows(TransportException.class, () -> transport.connect(endpoint)));
        peer.kill();
        assertNamesPeer(assertThrows(TransportException.class, () -> transport.connect(endpoint)));
    }

    @Test
    void manySessionsLeaveNothingBehind() throws Exception {
        PeerExtent extent = allocate(4096, 1);
        for (int round = 0; round < 50; round++) {
            connectReadClose(extent);
        }
        int mappings = mappings();
        long descriptors = descriptors();
        Token wrong = new Token(1, 1);
        PeerEndpoint refused = new PeerEndpoint(
                endpoint.executorId(), endpoint.host(), endpoint.process(), endpoint.directory(), wrong);
        for (int round = 0; round < 1000; round++) {
            connectReadClose(extent);
            assertThrows(TransportException.class, () -> transport.connect(refused));
        }
        assertTrue(mappings() < mappings + 50, mappings + " mappings before, " + mappings() + " after");
        assertTrue(descriptors() < descriptors + 10, descriptors + " files before, " + descriptors() + " after");
    }

    @Test
    void anInterruptedReaderReadsOrLeavesTheSessionAsItWas() throws Exception {
        PeerExtent extent = allocate(4096, 1);
        Thread.currentThread().interrupt();
        try (PeerSession session = transport.connect(endpoint)) {
            session.read(extent.range()).join().close();
            assertTrue(Thread.interrupted(), "the interrupt is not swallowed");
            assertHolds(session, extent, 0, extent.length());
        }
    }

    @Test
    void readersMayBeManyWhileSlabsComeAndGo() throws Exception {
        PeerExtent stable = allocate(TestPeer.SLAB, 1);
        allocate(TestPeer.SLAB, 2);
        peer.ask("churn");
        AtomicBoolean isDone = new AtomicBoolean();
        ExecutorService threads = Executors.newFixedThreadPool(5);
        try (PeerSession session = transport.connect(endpoint)) {
            Future<?> maintenance = threads.submit(() -> {
                while (!isDone.get()) {
                    session.dropStale();
                }
            });
            List<Future<Integer>> readers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                int seed = i;
                readers.add(threads.submit(() -> readWhileSlabsChange(session, stable, seed)));
            }
            int found = 0;
            for (Future<Integer> reader : readers) {
                found += reader.get();
            }
            isDone.set(true);
            maintenance.get();
            assertTrue(found >= 80, "slabs that come and go are read now and then");
        } finally {
            isDone.set(true);
            threads.shutdown();
        }
        assertEquals("done", peer.ask("rest"));
    }

    @Test
    void anEntryIsSeenWholeOrNotAtAllThoughItsSlotIsUsedAgain() throws Exception {
        peer.ask("publish");
        ExecutorService threads = Executors.newFixedThreadPool(3);
        try (PeerSession session = transport.connect(endpoint)) {
            List<Future<Integer>> readers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                readers.add(threads.submit(() -> readEntries(session)));
            }
            int found = 0;
            for (Future<Integer> reader : readers) {
                found += reader.get();
            }
            assertTrue(found > 0, "entries that come and go are seen now and then");
        } finally {
            threads.shutdown();
        }
        peer.ask("rest");
    }

    private static int readEntries(PeerSession session) throws Exception {
        RemoteRange buckets = new RemoteRange(
                DirectoryLayout.DIRECTORY_SLAB,
                DirectoryLayout.FIRST_SEGMENT_OFFSET,
                2L * DirectoryLayout.BUCKET_BYTES);
        int found = 0;
        int stable = 0;
        for (int round = 0; round < 200_000; round++) {
            try (ReadLease lease = session.read(buckets).get()) {
                int at = round % 2 * DirectoryEntryLayout.BYTES;
                Optional<Entry> entry = DirectoryEntryLayout.read(lease.bytes(), at);
                if (entry.isPresent()) {
                    assertEquals(TestPeer.entryOf(entry.get().mapId()), entry.get(), "a mix of two entries");
                    assertEquals(round % 2, entry.get().mapId() % 2, "an entry of another slot");
                    found++;
                }
                Optional<Entry> kept = DirectoryEntryLayout.read(lease.bytes(), DirectoryLayout.BUCKET_BYTES);
                assertTrue(kept.isPresent() || stable == 0, "an entry that stays was not seen");
                stable += kept.isPresent() ? 1 : 0;
                kept.ifPresent(entry1 -> assertEquals(TestPeer.entryOf(-1), entry1));
            } catch (TornReadException e) {
                // Seen, and would be repeated.
            }
        }
        return found;
    }

    private static int readWhileSlabsChange(PeerSession session, PeerExtent stable, int seed) throws Exception {
        Random random = new Random(seed);
        int found = 0;
        for (int round = 0; round < 3000 || found < 20; round++) {
            long from = random.nextInt((int) stable.length() - 64);
            assertHolds(session, stable, from, 64);
            try (ReadLease lease =
                    session.read(new RemoteRange(3, 0, TestPeer.SLAB)).get()) {
                byte[] bytes = new byte[64];
                lease.bytes().get(0, bytes);
                assertFalse(Arrays.equals(TestPeer.alien(64), bytes), "a file that is no slab was read as one");
                found++;
            } catch (ExecutionException e) {
                assertInstanceOf(TransportException.class, e.getCause());
            }
        }
        return found;
    }

    private void connectReadClose(PeerExtent extent) throws Exception {
        try (PeerSession session = transport.connect(endpoint)) {
            assertHolds(session, extent, 0, 16);
        }
    }

    private static List<String> segmentsMissing(ReadLease directory) throws TornReadException {
        return DirectoryLayout.segments(directory.bytes()).isEmpty() ? List.of("all") : List.of();
    }

    private static int mappings() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/maps")).size();
    }

    private static long descriptors() throws IOException {
        try (var files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }
}
