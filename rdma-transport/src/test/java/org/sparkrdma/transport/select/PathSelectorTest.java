/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.select;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.sparkrdma.transport.select.PathSelector.FALLBACK;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkrdma.transport.api.Availability;
import org.sparkrdma.transport.api.HostIdentity;
import org.sparkrdma.transport.api.PeerEndpoint;
import org.sparkrdma.transport.api.PeerEndpoint.SharedFile;
import org.sparkrdma.transport.api.PeerEndpoint.Token;
import org.sparkrdma.transport.api.PeerSession;
import org.sparkrdma.transport.api.ProcessIdentity;
import org.sparkrdma.transport.select.PathSelector.Bootstrap;
import org.sparkrdma.transport.select.PathSelector.PathState;
import org.sparkrdma.transport.support.ManualClock;

@Timeout(60)
class PathSelectorTest {
    private static final Duration RETRY = Duration.ofSeconds(30);
    private static final PeerEndpoint ENDPOINT = new PeerEndpoint(
            "1",
            new HostIdentity("boot", "pid:[1]"),
            new ProcessIdentity(1, 1),
            new SharedFile(3, "", 1),
            new Token(1, 2));

    private final ManualClock clock = new ManualClock();
    private final FakeTransport best = new FakeTransport("shm");
    private final FakeTransport second = new FakeTransport("rdma");
    private final PathSelector<String> selector = new PathSelector<>(List.of(best, second), RETRY, clock);
    private final AtomicInteger asked = new AtomicInteger();
    private final Bootstrap answering = () -> {
        asked.incrementAndGet();
        return Optional.of(ENDPOINT);
    };

    @AfterEach
    void closeSelector() {
        selector.close();
    }

    @Test
    void theFirstThatConnectsIsTakenAndKept() {
        PeerSession session = selector.session("a", answering).orElseThrow();
        assertSame(best.sessions.get(0), session);
        assertSame(session, selector.session("a", answering).orElseThrow());
        assertEquals(1, asked.get());
        assertEquals(0, second.attempts);
        assertEquals(new PathState("shm", ""), selector.path("a"));
        assertEquals(Map.of("a", new PathState("shm", "")), selector.paths());
    }

    @Test
    void theNextBestIsTakenAndTheCauseKept() {
        best.behaviour = FakeTransport.failing("another host");
        PeerSession session = selector.session("a", answering).orElseThrow();
        assertSame(second.sessions.get(0), session);
        assertEquals(new PathState("rdma", "shm: another host"), selector.path("a"));
    }

    @Test
    void aPeerThatNobodyReachesIsLeftAloneUntilItsTimeAndThenTriedAgain() {
        best.behaviour = FakeTransport.failing("another host");
        second.behaviour = FakeTransport.failing("no route");
        assertEquals(Optional.empty(), selector.session("a", answering));
        assertEquals(new PathState(FALLBACK, "shm: another host; rdma: no route"), selector.path("a"));

        clock.advance(RETRY.minusNanos(1));
        assertEquals(Optional.empty(), selector.session("a", answering));
        assertEquals(1, asked.get());

        second.behaviour = peer -> {};
        clock.advance(Duration.ofNanos(1));
        assertTrue(selector.session("a", answering).isPresent());
        assertEquals(2, asked.get());
        assertEquals(new PathState("rdma", "shm: another host"), selector.path("a"));
    }

    @Test
    void aBootstrapThatFailsInAnyWayMeansTheFallback() {
        List<Bootstrap> failing = List.of(
                () -> {
                    throw new IOException("no answer in 5 s");
                },
                () -> {
                    throw new IllegalStateException("the executor is lost");
                },
                () -> {
                    throw PathSelectorTest.<RuntimeException>undeclared(new Exception("as Scala throws it"));
                });
        List<String> causes = List.of("no answer in 5 s", "the executor is lost", "as Scala throws it");
        for (int i = 0; i < failing.size(); i++) {
            String name = "peer " + i;
            assertEquals(Optional.empty(), selector.session(name, failing.get(i)));
            PathState state = selector.path(name);
            assertEquals(FALLBACK, state.path());
            assertTrue(state.cause().contains("bootstrap failed"), state.cause());
            assertTrue(state.cause().contains(causes.get(i)), state.cause());
            assertEquals(Optional.empty(), selector.session(name, answering), "not before its time");
            clock.advance(RETRY);
            assertTrue(selector.session(name, answering).isPresent());
        }
        assertEquals(3, asked.get());
    }

    @Test
    void aTransportThatThrowsWhateverIsSteppedOver() {
        best.behaviour = peer -> {
            throw new IllegalArgumentException("a path with a zero byte");
        };
        assertTrue(selector.session("a", answering).isPresent());
        assertTrue(selector.path("a").cause().contains("a path with a zero byte"));
    }

    @Test
    void aPeerThatHasNothingYetIsAskedAgainNextTime() {
        assertEquals(Optional.empty(), selector.session("a", Optional::empty));
        assertEquals(new PathState(FALLBACK, "the peer has no memory to read yet"), selector.path("a"));
        assertTrue(selector.session("a", answering).isPresent());
    }

    @Test
    void aTaskThatIsKilledWhileItProbesSaysNothingAboutThePeer() {
        assertEquals(Optional.empty(), selector.session("a", () -> {
            throw PathSelectorTest.<RuntimeException>undeclared(new InterruptedException("killed"));
        }));
        assertTrue(Thread.interrupted(), "the interrupt is kept");
        assertTrue(selector.session("a", answering).isPresent(), "the next task probes at once");
    }

    @Test
    void whatIsNotAvailableIsNeverTried() {
        FakeTransport unavailable = new FakeTransport("rdma", Availability.unavailable("no device"));
        try (PathSelector<String> picky = new PathSelector<>(List.of(unavailable, best), RETRY, clock)) {
            assertTrue(picky.session("a", answering).isPresent());
            assertEquals("shm", picky.path("a").path());
        }
        assertEquals(0, unavailable.attempts);
        assertTrue(unavailable.isClosed, "what was given is closed, used or not");
        try (PathSelector<String> none = new PathSelector<>(List.of(unavailable), RETRY, clock)) {
            assertEquals(Optional.empty(), none.session("a", answering));
            assertEquals(FALLBACK, none.path("a").path());
        }
        assertEquals(1, asked.get(), "nobody is asked when nothing could be done with the answer");
    }

    @Test
    void onlyTheSessionInUseCanBeMarkedDown() {
        PeerSession first = selector.session("a", answering).orElseThrow();
        selector.markDown("a", first, "checksum");
        assertTrue(best.sessions.get(0).isClosed);
        assertEquals(new PathState(FALLBACK, "shm broke: checksum"), selector.path("a"));
        assertEquals(Optional.empty(), selector.session("a", answering));

        clock.advance(RETRY);
        PeerSession next = selector.session("a", answering).orElseThrow();
        selector.markDown("a", first, "a late complaint");
        selector.markDown("b", first, "about a peer unknown");
        assertSame(next, selector.session("a", answering).orElseThrow());
        assertFalse(best.sessions.get(1).isClosed);
    }

    @Test
    void maintenanceClosesWhatIsDeadAndDropsWhatIsStale() {
        selector.session("dead", answering);
        selector.session("alive", answering);
        selector.session("never there", Optional::empty);
        best.sessions.get(0).isAlive = false;
        selector.maintain();
        assertTrue(best.sessions.get(0).isClosed);
        assertEquals(FALLBACK, selector.path("dead").path());
        assertTrue(selector.path("dead").cause().contains("the peer's process has ended"));
        assertEquals(0, best.sessions.get(0).dropped);
        assertEquals(1, best.sessions.get(1).dropped);
        assertFalse(best.sessions.get(1).isClosed);
    }

    @Test
    void aPeerThatIsForgottenStartsAfresh() {
        selector.session("a", answering);
        selector.forget("a");
        selector.forget("unknown");
        assertTrue(best.sessions.get(0).isClosed);
        assertEquals(Map.of(), selector.paths());
        assertTrue(selector.session("a", answering).isPresent(), "no waiting");
    }

    @Test
    void afterCloseNothingIsOpen() {
        selector.session("a", answering);
        selector.session("b", answering);
        selector.close();
        selector.close();
        assertTrue(best.sessions.stream().allMatch(session -> session.isClosed));
        assertTrue(best.isClosed && second.isClosed);
        assertEquals(Optional.empty(), selector.session("a", answering));
        assertEquals(Optional.empty(), selector.session("c", answering));
        assertEquals(2, asked.get());
    }

    @Test
    void manyThreadsThatAskForAPeerCauseOneProbe() throws Exception {
        int threads = 16;
        for (boolean isUp : new boolean[] {true, false}) {
            CountDownLatch isProbing = new CountDownLatch(1);
            CountDownLatch mayAnswer = new CountDownLatch(1);
            asked.set(0);
            ExecutorService pool = Executors.newFixedThreadPool(threads);
            Bootstrap slow = () -> {
                asked.incrementAndGet();
                isProbing.countDown();
                await(mayAnswer);
                return isUp ? Optional.of(ENDPOINT) : Optional.empty();
            };
            List<Future<Optional<PeerSession>>> answers = new ArrayList<>();
            List<Thread> waiting = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                answers.add(pool.submit(() -> {
                    synchronized (waiting) {
                        waiting.add(Thread.currentThread());
                    }
                    return selector.session("a" + isUp, slow);
                }));
            }
            await(isProbing);
            while (!allWait(waiting, threads)) {
                Thread.onSpinWait();
            }
            mayAnswer.countDown();
            for (Future<Optional<PeerSession>> answer : answers) {
                assertEquals(isUp, answer.get().isPresent());
            }
            assertEquals(1, asked.get());
            pool.shutdown();
            if (isUp) {
                assertEquals(1, best.sessions.size());
            }
        }
    }

    @Test
    void aSlowPeerDelaysNobodyElse() throws Exception {
        CountDownLatch isProbing = new CountDownLatch(1);
        CountDownLatch mayAnswer = new CountDownLatch(1);
        ExecutorService pool = Executors.newFixedThreadPool(1);
        Future<Optional<PeerSession>> slow = pool.submit(() -> selector.session("slow", () -> {
            isProbing.countDown();
            await(mayAnswer);
            return Optional.of(ENDPOINT);
        }));
        await(isProbing);
        PeerSession quick = selector.session("quick", answering).orElseThrow();
        selector.maintain();
        selector.markDown("slow", quick, "not its session");
        assertEquals(FALLBACK, selector.path("slow").path());
        assertEquals(2, selector.paths().size());
        assertFalse(slow.isDone());
        mayAnswer.countDown();
        assertTrue(slow.get().isPresent());
        pool.shutdown();
    }

    @Test
    void aProbeThatEndsAfterItsPeerWasForgottenOrAllWasClosedLeavesNothingOpen() throws Exception {
        for (boolean isClosing : new boolean[] {false, true}) {
            CountDownLatch isProbing = new CountDownLatch(1);
            CountDownLatch mayAnswer = new CountDownLatch(1);
            ExecutorService pool = Executors.newFixedThreadPool(1);
            Future<Optional<PeerSession>> late = pool.submit(() -> selector.session("a", () -> {
                isProbing.countDown();
                await(mayAnswer);
                return Optional.of(ENDPOINT);
            }));
            await(isProbing);
            if (isClosing) {
                selector.close();
            } else {
                selector.forget("a");
            }
            mayAnswer.countDown();
            assertEquals(Optional.empty(), late.get());
            assertTrue(best.sessions.stream().allMatch(session -> session.isClosed));
            pool.shutdown();
        }
    }

    private static boolean allWait(List<Thread> threads, int count) {
        synchronized (threads) {
            return threads.size() == count
                    && threads.stream()
                            .allMatch(thread -> thread.getState() == Thread.State.WAITING
                                    || thread.getState() == Thread.State.BLOCKED);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T extends Exception> T undeclared(Exception e) throws T {
        throw (T) e;
    }
}
