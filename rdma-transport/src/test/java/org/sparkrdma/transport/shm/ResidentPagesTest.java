/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.transport.api.HostIdentity;
import org.sparkrdma.transport.api.PeerEndpoint;
import org.sparkrdma.transport.api.PeerEndpoint.Token;
import org.sparkrdma.transport.api.PeerSession;
import org.sparkrdma.transport.api.ProcessIdentity;
import org.sparkrdma.transport.api.ReadLease;
import org.sparkrdma.transport.api.RemoteRange;
import org.sparkrdma.transport.memory.SegmentFile;
import org.sparkrdma.transport.support.MemoryDirectory;
import org.sparkrdma.transport.wire.DirectoryLayout;
import org.sparkrdma.transport.wire.SlabTableLayout;
import org.sparkrdma.transport.wire.SlabTableLayout.SlabEntry;

/** What of a peer's memory counts as this process's own; the peer is this process itself. */
@Timeout(60)
class ResidentPagesTest {
    private static final int BOUND = 1 << 20;
    private static final int BLOCK = 64 << 10;
    private static final int SLAB_BYTES = 8 << 20;
    private static final int SLABS = 2;

    private final SegmentFile.Factory files = new SegmentFile.Factory();
    private final List<SegmentFile> slabs = new ArrayList<>();
    private MemoryDirectory memory;
    private SegmentFile directory;
    private ShmTransport transport;
    private PeerSession session;

    @BeforeEach
    void connect() throws Exception {
        assumeTrue(Files.isReadable(Path.of("/proc/self/smaps")), "this system does not tell which pages are resident");
        memory = MemoryDirectory.create(64 << 20);
        directory = files.create(memory.path(), DirectoryLayout.REGION_BYTES);
        Token token = new Token(1, 2);
        DirectoryLayout.initialize(directory.memory(), token);
        for (int id = 1; id <= SLABS; id++) {
            SegmentFile slab = files.create(memory.path(), SLAB_BYTES);
            slabs.add(slab);
            SlabTableLayout.write(
                    directory.memory(),
                    new SlabEntry(id, false, slab.shared().descriptor(), SLAB_BYTES, 1, slab.sequence()));
        }
        transport = new ShmTransport(HostIdentity.current(), BOUND);
        session = transport.connect(
                new PeerEndpoint("7", HostIdentity.current(), ProcessIdentity.current(), directory.shared(), token));
    }

    @AfterEach
    void close() throws IOException {
        if (session != null) {
            session.close();
            transport.close();
            for (SegmentFile slab : slabs) {
                slab.close();
            }
            directory.close();
        }
        if (memory != null) {
            memory.close();
        }
    }

    @Test
    void readingAWholePeerLeavesNoMoreThanTheBoundResident() throws Exception {
        for (int id = 1; id <= SLABS; id++) {
            for (int offset = 0; offset < SLAB_BYTES; offset += BLOCK) {
                read(id, offset).close();
                long resident = residentBytes();
                assertTrue(
                        resident <= BOUND + BLOCK, resident + " bytes are resident after slab " + id + ", " + offset);
            }
        }
    }

    @Test
    void whatAReaderHoldsStaysMappedWhateverElseIsRead() throws Exception {
        slabs.get(0).memory().putInt(0, 4711);
        try (ReadLease held = read(1, 0)) {
            for (int offset = 0; offset < SLAB_BYTES; offset += BLOCK) {
                read(1, offset).close();
                read(2, offset).close();
            }
            assertEquals(4711, held.bytes().getInt(0));
        }
    }

    @Test
    void aPeerThatNobodyReadsIsNotKeptMapped() throws Exception {
        read(1, 0).close();
        session.dropStale();
        assertTrue(residentBytes() > 0, "it was read since the last look");
        session.dropStale();
        assertEquals(0, residentBytes());
        read(1, 0).close();
    }

    /** Reads every page of a block. */
    private ReadLease read(int slab, int offset) throws InterruptedException, ExecutionException {
        ReadLease lease = session.read(new RemoteRange(slab, offset, BLOCK)).get();
        ByteBuffer bytes = lease.bytes();
        for (int at = 0; at < BLOCK; at += 4096) {
            bytes.get(at);
        }
        return lease;
    }

    /** Resident bytes of read-only mappings of a slab's size: those are made to read a peer. */
    private long residentBytes() throws IOException {
        long sum = 0;
        boolean isPeers = false;
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
            if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
                isPeers = line.contains(" r--s ")
                        && line.contains(memory.path().toString())
                        && mappedBytes(line) == SLAB_BYTES;
            } else if (isPeers && line.startsWith("Rss:")) {
                sum += Long.parseLong(line.replaceAll("\\D", "")) * 1024;
            }
        }
        return sum;
    }

    private static long mappedBytes(String line) {
        String[] range = line.substring(0, line.indexOf(' ')).split("-", -1);
        return Long.parseUnsignedLong(range[1], 16) - Long.parseUnsignedLong(range[0], 16);
    }
}
