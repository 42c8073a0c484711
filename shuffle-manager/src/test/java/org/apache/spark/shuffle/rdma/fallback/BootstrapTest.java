/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.fallback;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.shuffle.rdma.catalog.ExecutorMemory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BootstrapTest {
    private static final PeerName PEER = new PeerName("7", "host-a", 1234);

    @TempDir
    private Path home;

    @Test
    void aPeerTellsItsEndpoint() throws IOException {
        try (ExecutorMemory peer = new ExecutorMemory(home)) {
            assertEquals(
                    Optional.of(peer.catalog().endpoint()),
                    bootstrap(FakeTransfer.of(peer)).ask(PEER));
        }
    }

    @Test
    void aPeerThatHasNoMemoryYetSaysSo() throws IOException {
        FakeTransfer transfer =
                new FakeTransfer(id -> Optional.of(new NioManagedBuffer(BootstrapAnswer.encode(Optional.empty()))));

        assertEquals(Optional.empty(), bootstrap(transfer).ask(PEER));
    }

    @Test
    void garbageIsRefusedWithoutAnythingElseHappening() throws IOException {
        byte[] whole;
        try (ExecutorMemory peer = new ExecutorMemory(home)) {
            ByteBuffer answer =
                    BootstrapAnswer.encode(Optional.of(peer.catalog().endpoint()));
            whole = new byte[answer.remaining()];
            answer.get(whole);
        }
        Random random = new Random(1);
        for (int i = 0; i < 2_000; i++) {
            byte[] wild = i % 2 == 0 ? new byte[random.nextInt(100)] : whole.clone();
            if (i % 2 == 0) {
                random.nextBytes(wild);
            } else {
                wild[1 + random.nextInt(wild.length - 1)] ^= (byte) (1 + random.nextInt(255));
            }
            if (wild.length > 0 && wild[0] == 0) {
                wild[0] = 1;
            }
            FakeTransfer transfer = new FakeTransfer(id -> Optional.of(new NioManagedBuffer(ByteBuffer.wrap(wild))));
            assertThrows(IOException.class, () -> bootstrap(transfer).ask(PEER));
        }
        FakeTransfer huge = new FakeTransfer(id -> Optional.of(new NioManagedBuffer(ByteBuffer.allocate(1 << 20))));
        assertThrows(IOException.class, () -> bootstrap(huge).ask(PEER));
    }

    @Test
    void silenceEndsWithAMessageThatNamesPeerAndSetting() {
        IOException silence = assertThrows(
                IOException.class,
                () -> new Bootstrap(new FakeTransfer(id -> Optional.empty()), Duration.ofMillis(20)).ask(PEER));

        assertEquals(
                "executor 7 at host-a:1234 did not answer the bootstrap within"
                        + " spark.shuffle.rdma.bootstrap.timeout=20ms",
                silence.getMessage());
    }

    @Test
    void aFailureNamesPeerAndCause() {
        FakeTransfer transfer = new FakeTransfer(id -> {
            throw new IOException("connection refused");
        });

        IOException failure =
                assertThrows(IOException.class, () -> bootstrap(transfer).ask(PEER));
        assertTrue(failure.getMessage().contains("executor 7 at host-a:1234"), failure.getMessage());
        assertTrue(failure.getMessage().contains("connection refused"), failure.getMessage());
    }

    @Test
    void aKilledTaskStaysInterrupted() {
        Thread.currentThread().interrupt();
        assertThrows(IOException.class, () -> bootstrap(new FakeTransfer(id -> Optional.empty()))
                .ask(PEER));
        assertTrue(Thread.interrupted());
    }

    private static Bootstrap bootstrap(FakeTransfer transfer) {
        return new Bootstrap(transfer, Duration.ofSeconds(10));
    }
}
