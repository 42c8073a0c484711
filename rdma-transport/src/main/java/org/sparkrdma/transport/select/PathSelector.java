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

    private final List<BlockTransport> transports;
    private final Duration retryAfter;
    private final LongSupplier nanoClock;
    private final Map<P, Peer> peers = new ConcurrentHashMap<>();

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
        this.transports = transports.stream()
                .filter(transport -> transport.availability().isAvailable())
                .toList();
        this.retryAfter = retryAfter;
        this.nanoClock = nanoClock;
    }

    /** The session to read a peer with; nothing means the fallback. */
    public Optional<PeerSession> session(P name, Bootstrap bootstrap) {
        if (transports.isEmpty()) {
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
            peer.close("the peer is gone");
        }
    }

    /** Closes sessions whose peer has died and drops memory that peers have given up. Called now and then. */
    public void maintain() {
        peers.values().forEach(Peer::maintain);
    }

    /** The path to a peer; the fallback if it was never asked for. */
    public PathState path(P name) {
        Peer peer = peers.get(name);
        return peer == null ? new PathState(FALLBACK, "") : peer.state();
    }

    /** The path to each peer asked for so far. */
    public Map<P, PathState> paths() {
        Map<P, PathState> states = new LinkedHashMap<>();
        peers.forEach((name, peer) -> states.put(name, peer.state()));
        return states;
    }

    @Override
    public void close() {
        peers.values().forEach(peer -> peer.close("the executor is stopping"));
        transports.forEach(BlockTransport::close);
    }

    /** State of one peer, guarded by its own lock. */
    private final class Peer {
        private final P name;
        private volatile PeerSession current;
        private String path = FALLBACK;
        private String cause = "";
        private long retryAt;
        private boolean isDown;

        Peer(P name) {
            this.name = name;
        }

        Optional<PeerSession> session(Bootstrap bootstrap) {
            PeerSession session = current;
            return session != null ? Optional.of(session) : probe(bootstrap);
        }

        synchronized PathState state() {
            return new PathState(path, cause);
        }

        private synchronized Optional<PeerSession> probe(Bootstrap bootstrap) {
            if (current != null || (isDown && nanoClock.getAsLong() - retryAt < 0)) {
                return Optional.ofNullable(current);
            }
            Optional<PeerEndpoint> endpoint;
            try {
                endpoint = bootstrap.ask();
            } catch (IOException e) {
                down("bootstrap failed: " + e.getMessage());
                return Optional.empty();
            }
            if (endpoint.isEmpty()) {
                return Optional.empty(); // Nothing to read there yet: ask again next time.
            }
            StringBuilder causes = new StringBuilder();
            for (BlockTransport transport : transports) {
                try {
                    current = transport.connect(endpoint.get());
                    up(transport.name(), causes.toString());
                    return Optional.of(current);
                } catch (IOException e) {
                    causes.append(causes.isEmpty() ? "" : "; ")
                            .append(transport.name())
                            .append(": ")
                            .append(e.getMessage());
                }
            }
            down(causes.toString());
            return Optional.empty();
        }

        synchronized void markDown(PeerSession session, String why) {
            if (current == session) {
                close(path + " broke: " + why);
            }
        }

        synchronized void maintain() {
            PeerSession session = current;
            if (session == null) {
                return;
            }
            if (session.isAlive()) {
                session.dropStale();
            } else {
                close("the peer's process has ended");
            }
        }

        synchronized void close(String why) {
            PeerSession session = current;
            if (session != null) {
                current = null;
                session.close();
                down(why);
            }
        }

        private void up(String transport, String others) {
            isDown = false;
            path = transport;
            cause = others;
            LOG.info("path to {}: {}{}", name, path, cause.isEmpty() ? "" : " (" + cause + ")");
        }

        private void down(String why) {
            retryAt = nanoClock.getAsLong() + retryAfter.toNanos();
            if (!isDown || !why.equals(cause)) {
                LOG.info("path to {}: {} ({}); tried again in {} s", name, FALLBACK, why, retryAfter.toSeconds());
            }
            isDown = true;
            path = FALLBACK;
            cause = why;
        }
    }
}
