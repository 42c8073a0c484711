/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.select;

import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.transport.api.BlockTransport;
import org.sparkrdma.transport.api.PeerEndpoint;
import org.sparkrdma.transport.api.PeerSession;
import org.sparkrdma.transport.api.TransportException;

/**
 * Chooses the path to each peer, in one place: the first transport, in order of preference, that connects. A peer that
 * none reaches, or whose path broke, goes by the fallback until a time has passed; then it is probed again.
 *
 * <p>Threading: any thread. The first one to ask for a peer probes it, the others wait for its answer; the probe is
 * bounded by the timeouts of bootstrap and transports.
 *
 * @param <P> what names a peer
 */
public final class PathSelector<P> implements AutoCloseable {
    /** Name of the path that is always there: Spark's own block transfer. */
    public static final String FALLBACK = "netty";

    private static final Logger LOG = LoggerFactory.getLogger(PathSelector.class);

    /** All that were given, to be closed. */
    private final List<BlockTransport> owned;
    /** Those that can be used. */
    private final List<BlockTransport> transports;

    private final Duration retryAfter;
    private final LongSupplier nanoClock;
    private final Map<P, Peer> peers = new ConcurrentHashMap<>();
    private volatile boolean isClosed;

    /** Asks a peer for its endpoint, within its own timeout. */
    @FunctionalInterface
    public interface Bootstrap {
        /** The endpoint, or nothing if the peer has no memory to read yet. */
        Optional<PeerEndpoint> ask() throws IOException;
    }

    /**
     * The path to a peer.
     *
     * @param path the transport's name, or {@link #FALLBACK}
     * @param cause why no better path is used; empty if the best one is
     */
    public record PathState(String path, String cause) {}

    /**
     * @param transports in order of preference; those that are not available are never tried
     * @param retryAfter how long a peer stays on the fallback before it is probed again
     * @param nanoClock a monotonic clock, nanoseconds
     */
    public PathSelector(List<BlockTransport> transports, Duration retryAfter, LongSupplier nanoClock) {
        this.owned = List.copyOf(transports);
        this.transports = owned.stream()
                .filter(transport -> transport.availability().isAvailable())
                .toList();
        this.retryAfter = retryAfter;
        this.nanoClock = nanoClock;
    }

    /** The session to read a peer with; nothing means the fallback. */
    public Optional<PeerSession> session(P name, Bootstrap bootstrap) {
        if (transports.isEmpty() || isClosed) {
            return Optional.empty();
        }
        return peers.computeIfAbsent(name, Peer::new).session(bootstrap);
    }

    /** A session broke: the peer goes by the fallback for a while. */
    public void markDown(P name, PeerSession session, String cause) {
        Peer peer = peers.get(name);
        if (peer != null) {
            peer.markDown(session, cause);
        }
    }

    /** Forgets a peer that is gone. */
    public void forget(P name) {
        Peer peer = peers.remove(name);
        if (peer != null) {
            peer.close();
        }
    }

    /** Closes sessions whose peer has died and drops memory that peers have given up. Called now and then. */
    public void maintain() {
        peers.values().forEach(Peer::maintain);
    }

    /** The path to a peer; the fallback if it was never asked for. */
    public PathState path(P name) {
        Peer peer = peers.get(name);
        return peer == null ? new PathState(FALLBACK, "") : peer.state;
    }

    /** The path to each peer asked for so far. */
    public Map<P, PathState> paths() {
        Map<P, PathState> states = new LinkedHashMap<>();
        peers.forEach((name, peer) -> states.put(name, peer.state));
        return states;
    }

    /** Closes sessions and transports; a probe that is under way closes what it opens. */
    @Override
    public void close() {
        isClosed = true;
        peers.values().forEach(Peer::close);
        owned.forEach(PathSelector::closeQuietly);
    }

    private static void closeQuietly(BlockTransport transport) {
        try {
            transport.close();
        } catch (RuntimeException e) {
            LOG.warn("transport {} could not be closed", transport.name(), e);
        }
    }

    /** One peer: its lock guards what follows, and is never held while the peer is asked or connected to. */
    private final class Peer {
        private final P name;
        /** One thread at a time probes. */
        private final Object probing = new Object();
        /** Probes that have ended, under {@link #probing}. */
        private volatile long probes;

        private volatile PeerSession current;
        private volatile PathState state = new PathState(FALLBACK, "not probed yet");
        private long retryAt;
        private boolean isDown;
        private boolean isGone;

        Peer(P name) {
            this.name = name;
        }

        Optional<PeerSession> session(Bootstrap bootstrap) {
            PeerSession session = current;
            if (session != null) {
                return Optional.of(session);
            }
            long seen = probes;
            if (!isDue()) {
                return Optional.empty();
            }
            synchronized (probing) {
                // Whoever waited for another one's probe takes its answer.
                if (probes == seen && current == null && isDue()) {
                    probe(bootstrap);
                    probes = seen + 1;
                }
                return Optional.ofNullable(current);
            }
        }

        private synchronized boolean isDue() {
            return !isGone && !isClosed && (!isDown || nanoClock.getAsLong() - retryAt >= 0);
        }

        private void probe(Bootstrap bootstrap) {
            Optional<PeerEndpoint> endpoint;
            try {
                endpoint = bootstrap.ask();
            } catch (Exception e) { // Spark's Scala code throws checked exceptions that it does not declare.
                failed("bootstrap failed: " + describe(e), e);
                return;
            }
            if (endpoint.isEmpty()) {
                state = new PathState(FALLBACK, "the peer has no memory to read yet");
                return; // Ask again next time.
            }
            StringBuilder causes = new StringBuilder();
            Exception last = null;
            for (BlockTransport transport : transports) {
                try {
                    connected(transport, transport.connect(endpoint.get()), causes.toString());
                    return;
                } catch (IOException | RuntimeException e) {
                    last = e;
                    causes.append(causes.isEmpty() ? "" : "; ")
                            .append(transport.name())
                            .append(": ")
                            .append(describe(e));
                }
            }
            failed(causes.toString(), last);
        }

        /** A task that is killed while it probes says nothing about the peer. */
        private void failed(String cause, Exception e) {
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            if (Thread.currentThread().isInterrupted()) {
                state = new PathState(FALLBACK, "the probe was interrupted (" + cause + ")");
            } else {
                down(cause);
            }
        }

        private synchronized void connected(BlockTransport transport, PeerSession session, String others) {
            if (isGone || isClosed) {
                session.close();
                return;
            }
            current = session;
            isDown = false;
            state = new PathState(transport.name(), others);
            LOG.info("path to {}: {}{}", name, transport.name(), others.isEmpty() ? "" : " (" + others + ")");
        }

        synchronized void markDown(PeerSession session, String why) {
            if (current == session && session != null) {
                String broken = state.path();
                current = null;
                session.close();
                down(broken + " broke: " + why);
            }
        }

        void maintain() {
            PeerSession session = current;
            if (session == null) {
                return;
            }
            if (session.isAlive()) {
                session.dropStale();
            } else {
                markDown(session, "the peer's process has ended");
            }
        }

        synchronized void close() {
            isGone = true;
            PeerSession session = current;
            if (session != null) {
                current = null;
                state = new PathState(FALLBACK, "closed");
                session.close();
            }
        }

        private synchronized void down(String why) {
            retryAt = nanoClock.getAsLong() + retryAfter.toNanos();
            if (!isDown || !why.equals(state.cause())) {
                LOG.info("path to {}: {} ({}); tried again in {} s", name, FALLBACK, why, retryAfter.toSeconds());
            }
            isDown = true;
            state = new PathState(FALLBACK, why);
        }
    }

    private static String describe(Exception e) {
        return e instanceof TransportException ? e.getMessage() : e.toString();
    }
}
