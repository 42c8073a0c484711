/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.select;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.sparkrdma.transport.api.Availability;
import org.sparkrdma.transport.api.BlockTransport;
import org.sparkrdma.transport.api.PeerEndpoint;
import org.sparkrdma.transport.api.PeerSession;
import org.sparkrdma.transport.api.ReadLease;
import org.sparkrdma.transport.api.RemoteRange;
import org.sparkrdma.transport.api.TransportException;

/** A transport that connects, or fails, as its test says. */
final class FakeTransport implements BlockTransport {
    /** Says what a connection attempt does. */
    interface Behaviour {
        void onConnect(PeerEndpoint peer) throws TransportException;
    }

    final List<FakeSession> sessions = Collections.synchronizedList(new ArrayList<>());
    volatile Behaviour behaviour = peer -> {};
    volatile int attempts;
    volatile boolean isClosed;

    private final String name;
    private final Availability availability;

    FakeTransport(String name) {
        this(name, Availability.AVAILABLE);
    }

    FakeTransport(String name, Availability availability) {
        this.name = name;
        this.availability = availability;
    }

    static Behaviour failing(String why) {
        return peer -> {
            throw new TransportException(why);
        };
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Availability availability() {
        return availability;
    }

    @Override
    public PeerSession connect(PeerEndpoint peer) throws TransportException {
        synchronized (this) {
            attempts++;
        }
        behaviour.onConnect(peer);
        FakeSession session = new FakeSession(peer);
        sessions.add(session);
        return session;
    }

    @Override
    public void close() {
        isClosed = true;
    }

    static final class FakeSession implements PeerSession {
        volatile boolean isAlive = true;
        volatile boolean isClosed;
        volatile int dropped;
        private final PeerEndpoint peer;

        FakeSession(PeerEndpoint peer) {
            this.peer = peer;
        }

        @Override
        public PeerEndpoint peer() {
            return peer;
        }

        @Override
        public CompletableFuture<ReadLease> read(RemoteRange range) {
            return CompletableFuture.failedFuture(new TransportException("nothing is read here"));
        }

        @Override
        public boolean isOverflow(int slabId) {
            return false;
        }

        @Override
        public boolean isAlive() {
            return isAlive;
        }

        @Override
        public synchronized void dropStale() {
            dropped++;
        }

        @Override
        public void close() {
            isClosed = true;
        }
    }
}
