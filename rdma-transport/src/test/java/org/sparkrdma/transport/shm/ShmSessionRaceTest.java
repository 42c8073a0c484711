/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.shm;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.ByteBuffer;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.transport.api.HostIdentity;
import org.sparkrdma.transport.api.PeerEndpoint;
import org.sparkrdma.transport.api.PeerEndpoint.Token;
import org.sparkrdma.transport.api.PeerSession;
import org.sparkrdma.transport.api.ProcessIdentity;
import org.sparkrdma.transport.api.ReadLease;
import org.sparkrdma.transport.api.RemoteRange;
import org.sparkrdma.transport.api.TransportException;
import org.sparkrdma.transport.memory.SegmentFile;
import org.sparkrdma.transport.support.MemoryDirectory;
import org.sparkrdma.transport.wire.DirectoryLayout;
import org.sparkrdma.transport.wire.SlabTableLayout;
import org.sparkrdma.transport.wire.SlabTableLayout.SlabEntry;

/** The peer is this process itself, so that its slabs come and go within the microseconds that a mapping takes. */
@Timeout(60)
class ShmSessionRaceTest {
    private static final int BYTES = 4096;
    private static final int SLAB = 5;
    private static final int ALIEN = 0x0A11_E700;

    private final SegmentFile.Factory files = new SegmentFile.Factory();

    @Test
    void aFileThatGotTheDescriptorOfASlabIsNeverReadAsThatSlab() throws Exception {
        assumeTrue(files.anonymity().isAvailable(), files.anonymity().unavailabilityCause());
        ExecutorService threads = Executors.newFixedThreadPool(1);
        try (MemoryDirectory memory = MemoryDirectory.create(1 << 20);
                SegmentFile directory = files.create(memory.path(), DirectoryLayout.REGION_BYTES);
                ShmTransport transport = new ShmTransport();
                PeerSession session = connect(transport, directory)) {
            AtomicBoolean isDone = new AtomicBoolean();
            Future<Integer> reader = threads.submit(() -> readUntil(session, isDone));
            ByteBuffer region = directory.memory();
            for (int generation = 1; generation <= 20_000; generation++) {
                try (SegmentFile slab = files.create(memory.path(), BYTES)) {
                    slab.memory().putInt(0, generation);
                    SlabTableLayout.write(
                            region,
                            new SlabEntry(SLAB, false, slab.shared().descriptor(), BYTES, generation, slab.sequence()));
                    // From no time at all to about what a mapping takes.
                    for (int spin = generation % 1000; spin > 0; spin--) {
                        Thread.onSpinWait();
                    }
                    SlabTableLayout.clear(region, SLAB);
                }
                try (SegmentFile other = files.create(memory.path(), BYTES)) {
                    other.memory().putInt(0, ALIEN);
                }
            }
            isDone.set(true);
            assertTrue(reader.get() > 0, "slabs were read while they came and went");
        } finally {
            threads.shutdown();
        }
    }

    private static int readUntil(PeerSession session, AtomicBoolean isDone) throws InterruptedException {
        int found = 0;
        while (!isDone.get()) {
            try (ReadLease lease = session.read(new RemoteRange(SLAB, 0, BYTES)).get()) {
                assertTrue(lease.bytes().getInt(0) != ALIEN, "a file that is no slab was read as one");
                found++;
            } catch (ExecutionException e) {
                assertInstanceOf(TransportException.class, e.getCause());
            }
        }
        return found;
    }

    private static PeerSession connect(ShmTransport transport, SegmentFile directory) throws TransportException {
        Token token = new Token(1, 2);
        DirectoryLayout.initialize(directory.memory(), token);
        return transport.connect(
                new PeerEndpoint("7", HostIdentity.current(), ProcessIdentity.current(), directory.shared(), token));
    }
}
