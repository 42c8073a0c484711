/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.transport.api.BlockTransport;
import org.sparkrdma.transport.api.HostIdentity;
import org.sparkrdma.transport.api.PeerEndpoint;
import org.sparkrdma.transport.api.PeerEndpoint.SharedFile;
import org.sparkrdma.transport.api.PeerSession;
import org.sparkrdma.transport.api.ProcessIdentity;
import org.sparkrdma.transport.api.TransportException;
import org.sparkrdma.transport.shm.ShmTransport;
import org.sparkrdma.transport.wire.DirectoryLayout;

class ShmTransportContractTest extends TransportContractTest {
    @Override
    protected BlockTransport createTransport() {
        return new ShmTransport();
    }

    @Test
    void aSlabIdThatIsUsedAgainIsNoticedByTheReadItself() throws Exception {
        allocate(TestPeer.SLAB, 1);
        allocate(TestPeer.SLAB, 2);
        PeerExtent old = allocate(TestPeer.SLAB, 3);
        assertTrue(old.isOverflow());
        try (PeerSession session = transport.connect(endpoint)) {
            assertHolds(session, old, 0, 64);
            peer.ask("free " + old.number());
            peer.ask("maintain");
            assertNamesPeer(refused(session, old.range()));
            PeerExtent fresh = allocate(TestPeer.SLAB, 4);
            assertEquals(old.slab(), fresh.slab());
            assertHolds(session, fresh, 0, 64);
        }
    }

    @Test
    void whatIsNoDirectoryIsRefusedWhateverItIs() throws Exception {
        PeerExtent slab = allocate(TestPeer.SLAB, 1);
        Path file = disk.resolve("short");
        Files.write(file, new byte[100]);
        for (SharedFile wrong : List.of(
                new SharedFile(slab.descriptor(), "", DirectoryLayout.REGION_BYTES),
                new SharedFile(0, "", DirectoryLayout.REGION_BYTES), // A pipe: opening it must not wait.
                new SharedFile(99_999, "", DirectoryLayout.REGION_BYTES),
                new SharedFile(-1, "", DirectoryLayout.REGION_BYTES),
                new SharedFile(-1, "\0", DirectoryLayout.REGION_BYTES),
                new SharedFile(-1, "/", DirectoryLayout.REGION_BYTES),
                new SharedFile(-1, disk.resolve("absent").toString(), DirectoryLayout.REGION_BYTES),
                new SharedFile(-1, file.toString(), DirectoryLayout.REGION_BYTES))) {
            TransportException refusal = assertThrows(
                    TransportException.class,
                    () -> transport.connect(
                            new PeerEndpoint("7", endpoint.host(), endpoint.process(), wrong, endpoint.token())),
                    wrong.toString());
            assertNamesPeer(refusal);
        }
    }

    @Test
    void anotherHostAndAnotherContainerAreToldApart() {
        for (HostIdentity other : List.of(
                new HostIdentity("another boot", endpoint.host().pidNamespace()),
                new HostIdentity(endpoint.host().bootId(), "pid:[1]"),
                new HostIdentity("", ""))) {
            assertNamesPeer(assertThrows(
                    TransportException.class,
                    () -> transport.connect(
                            new PeerEndpoint("7", other, endpoint.process(), endpoint.directory(), endpoint.token()))));
        }
    }

    @Test
    void aLaterProcessWithThePeersIdIsNotThePeer() {
        ProcessIdentity other =
                new ProcessIdentity(endpoint.process().pid(), endpoint.process().startTime() - 1);
        String refusal = assertThrows(
                        TransportException.class,
                        () -> transport.connect(
                                new PeerEndpoint("7", endpoint.host(), other, endpoint.directory(), endpoint.token())))
                .getMessage();
        assertTrue(refusal.contains("does not run any more"), refusal);
    }
}
