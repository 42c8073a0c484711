/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.shm;

import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import org.sparkrdma.transport.api.Availability;
import org.sparkrdma.transport.api.BlockTransport;
import org.sparkrdma.transport.api.HostIdentity;
import org.sparkrdma.transport.api.PeerEndpoint;
import org.sparkrdma.transport.api.PeerEndpoint.SharedFile;
import org.sparkrdma.transport.api.PeerSession;
import org.sparkrdma.transport.api.ProcessIdentity;
import org.sparkrdma.transport.api.TransportException;
import org.sparkrdma.transport.wire.DirectoryLayout;

/**
 * Reads peers on the same host by mapping their slabs read-only. The kernel lets only the same user in; the token in
 * the mapped directory proves that the memory is the peer's.
 */
public final class ShmTransport implements BlockTransport {
    /** Small beside what a job reads, so that mapping anew costs next to nothing; small beside an executor, too. */
    private static final long RESIDENT_BYTES = 32L << 20;

    private final HostIdentity host;
    private final ResidentBound resident;
    private final Availability availability;

    /** Probes this host. */
    public ShmTransport() {
        this(HostIdentity.current(), RESIDENT_BYTES);
    }

    ShmTransport(HostIdentity host, long residentBytes) {
        this.host = host;
        this.resident = new ResidentBound(residentBytes);
        this.availability = host.isKnown()
                ? Availability.AVAILABLE
                : Availability.unavailable("this system has no /proc to find peers' memory by");
    }

    @Override
    public String name() {
        return "shm";
    }

    @Override
    public Availability availability() {
        return availability;
    }

    @Override
    public PeerSession connect(PeerEndpoint peer) throws TransportException {
        if (!availability.isAvailable()) {
            throw new TransportException(availability.unavailabilityCause());
        }
        if (!peer.host().bootId().equals(host.bootId())) {
            throw new TransportException("executor " + peer.executorId() + " runs on another host");
        }
        if (!peer.host().pidNamespace().equals(host.pidNamespace())) {
            throw new TransportException("executor " + peer.executorId()
                    + " runs in another process-id namespace (another container): its memory cannot be found");
        }
        if (!peer.process().isAlive()) {
            throw new TransportException(
                    "executor " + peer.executorId() + " does not run any more: there is no process "
                            + peer.process().pid() + " of its start time");
        }
        Path path;
        MappedFile directory;
        try {
            path = pathOf(peer.process(), peer.directory());
            directory = MappedFile.open(path, DirectoryLayout.REGION_BYTES);
        } catch (IOException | InvalidPathException e) {
            throw new TransportException(
                    "the directory of executor " + peer.executorId() + " cannot be mapped: " + e, e);
        }
        String refusal = DirectoryLayout.refusal(directory.memory(), peer.token());
        if (!refusal.isEmpty()) {
            directory.close();
            throw new TransportException("executor " + peer.executorId() + " at " + path + ": " + refusal);
        }
        return new ShmSession(peer, directory, resident);
    }

    @Override
    public void close() {
        // Sessions are closed by whoever opened them; nothing else is held.
    }

    private static Path pathOf(ProcessIdentity owner, SharedFile file) {
        return file.isAnonymous() ? descriptorPath(owner, file.descriptor()) : Path.of(file.path());
    }

    static Path descriptorPath(ProcessIdentity owner, int descriptor) {
        return Path.of("/proc", Long.toString(owner.pid()), "fd", Integer.toString(descriptor));
    }
}
