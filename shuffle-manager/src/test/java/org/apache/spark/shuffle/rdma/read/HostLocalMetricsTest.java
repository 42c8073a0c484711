/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.read;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.spark.executor.TempShuffleReadMetrics;
import org.junit.jupiter.api.Test;

class HostLocalMetricsTest {
    private final PathLedger ledger = new PathLedger();
    private final TempShuffleReadMetrics spark = new TempShuffleReadMetrics();
    private final HostLocalMetrics metrics = new HostLocalMetrics(spark, ledger);

    @Test
    void blocksFromThisHostsMemoryAreLocalOnes() {
        ledger.deliver(true, () -> {});
        ledger.deliver(false, () -> {});
        count(100);
        count(30);

        assertEquals(1, spark.localBlocksFetched());
        assertEquals(100, spark.localBytesRead());
        assertEquals(1, spark.remoteBlocksFetched());
        assertEquals(30, spark.remoteBytesRead());
    }

    @Test
    void whatTheLedgerDoesNotKnowIsRemote() {
        count(7);

        assertEquals(7, spark.remoteBytesRead());
        assertEquals(0, spark.localBlocksFetched());
    }

    @Test
    void blocksDeliveredByManyThreadsAreCountedByTheirOwnPaths() throws InterruptedException {
        // As Spark's reader does: what is delivered goes into a queue, whose order is that of the counting.
        LinkedBlockingQueue<Boolean> results = new LinkedBlockingQueue<>();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            boolean isHostLocal = t % 2 == 0;
            threads.add(new Thread(() -> {
                for (int i = 0; i < 20_000; i++) {
                    ledger.deliver(isHostLocal, () -> results.add(isHostLocal));
                }
            }));
        }
        threads.forEach(Thread::start);
        for (int i = 0; i < 80_000; i++) {
            count(results.take() ? 1_000_000 : 1);
        }
        for (Thread thread : threads) {
            thread.join();
        }

        assertEquals(40_000L * 1_000_000, spark.localBytesRead());
        assertEquals(40_000, spark.remoteBytesRead());
        assertEquals(40_000, spark.localBlocksFetched());
        assertEquals(40_000, spark.remoteBlocksFetched());
    }

    private void count(long bytes) {
        metrics.incRemoteBlocksFetched(1);
        metrics.incRemoteBytesRead(bytes);
    }
}
