/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.transport.api.BlockTransport;
import org.sparkrdma.transport.api.PeerEndpoint;
import org.sparkrdma.transport.api.PeerSession;
import org.sparkrdma.transport.api.ReadLease;
import org.sparkrdma.transport.api.RemoteRange;
import org.sparkrdma.transport.api.TransportException;
import org.sparkrdma.transport.support.ForkedJvm;
import org.sparkrdma.transport.support.MemoryDirectory;
import org.sparkrdma.transport.wire.EndpointCodec;

/** A peer in a process of its own, and what tests say to it and expect of it. */
@Timeout(120)
abstract class PeerFixture {
    @TempDir
    protected Path disk;

    protected BlockTransport transport;
    protected ForkedJvm peer;
    protected PeerEndpoint endpoint;

    private MemoryDirectory memory;

    /** A fresh transport of the kind under test. */
    protected abstract BlockTransport createTransport();

    /** An extent of the peer. */
    protected record PeerExtent(
            int number, int slab, long offset, long length, boolean isOverflow, int descriptor, int seed) {
        RemoteRange range() {
            return new RemoteRange(slab, offset, length);
        }
    }

    @BeforeEach
    void startPeer() throws IOException {
        memory = MemoryDirectory.create(8 * TestPeer.SLAB);
        transport = createTransport();
        assumeTrue(
                transport.availability().isAvailable(),
                transport.name() + ": " + transport.availability().unavailabilityCause());
        peer = ForkedJvm.start(TestPeer.class, true, memory.path().toString(), disk.toString());
        endpoint = EndpointCodec.decode(HexFormat.of().parseHex(peer.readLine()));
    }

    @AfterEach
    void endPeer() throws IOException {
        if (peer != null) {
            peer.close();
        }
        if (transport != null) {
            transport.close();
        }
        if (memory != null) {
            memory.close();
        }
    }

    /** Has the peer allocate an extent and fill it. */
    protected PeerExtent allocate(long bytes, int seed) throws IOException {
        String[] words = peer.ask("allocate " + bytes + " " + seed).split(" ", -1);
        return new PeerExtent(
                Integer.parseInt(words[0]),
                Integer.parseInt(words[1]),
                Long.parseLong(words[2]),
                Long.parseLong(words[3]),
                Boolean.parseBoolean(words[4]),
                Integer.parseInt(words[5]),
                seed);
    }

    protected PeerExtent allocateOverflow(int seed) throws IOException {
        PeerExtent extent = allocate(TestPeer.SLAB, seed);
        while (!extent.isOverflow()) {
            extent = allocate(TestPeer.SLAB, seed);
        }
        return extent;
    }

    protected static TransportException refused(PeerSession session, RemoteRange range) {
        ExecutionException failure =
                assertThrows(ExecutionException.class, () -> session.read(range).get(), range.toString());
        return assertInstanceOf(TransportException.class, failure.getCause());
    }

    protected static void assertNamesPeer(TransportException refusal) {
        assertTrue(refusal.getMessage().contains("executor 7"), refusal.getMessage());
    }

    protected static void assertHolds(PeerSession session, PeerExtent extent, long from, long length)
            throws InterruptedException, ExecutionException {
        try (ReadLease lease = session.read(new RemoteRange(extent.slab(), extent.offset() + from, length))
                .get()) {
            assertEquals(length, lease.bytes().remaining());
            assertHolds(lease.bytes(), extent, from);
        }
    }

    protected static void assertHolds(ByteBuffer bytes, PeerExtent extent, long from) {
        for (int i = 0; i < bytes.limit(); i++) {
            byte expected = TestPeer.byteAt(extent.seed(), from + i);
            if (bytes.get(i) != expected) {
                assertEquals(expected, bytes.get(i), "byte " + (from + i));
            }
        }
    }
}
