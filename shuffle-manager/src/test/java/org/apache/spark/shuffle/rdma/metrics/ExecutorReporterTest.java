/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkrdma.transport.memory.PoolUsage;

class ExecutorReporterTest {
    private final List<ExecutorReport> sent = new ArrayList<>();
    private ExecutorReport current = report(1);

    @Test
    void nothingNewIsNotSentAgain() {
        ExecutorReporter reporter = new ExecutorReporter(() -> current, sent::add);
        reporter.report();
        reporter.report();
        assertEquals(List.of(report(1)), sent);
        current = report(2);
        reporter.report();
        assertEquals(List.of(report(1), report(2)), sent);
    }

    @Test
    void aReportThatDidNotGetThroughIsMadeGoodForByTheNext() {
        ExecutorReporter failing = new ExecutorReporter(() -> current, report -> {
            if (sent.isEmpty()) {
                sent.add(null);
                throw new IllegalStateException("no driver");
            }
            sent.add(report);
        });
        assertThrows(IllegalStateException.class, failing::report);
        failing.report();
        assertEquals(Arrays.asList(null, report(1)), sent);
    }

    @Test
    void memoryInQuarantineIsNotLive() {
        SlabBytes bytes = SlabBytes.of(new PoolUsage(100, 50, 60, 7, 9, 40, 15));
        assertEquals(new SlabBytes(100, 50, 60, 25, 7, 9), bytes);
        assertEquals("slabs: at most 60 of 100 bytes in shared memory, at most 9 on local disk", bytes.describe());
    }

    private static ExecutorReport report(long memory) {
        return new ExecutorReport("1", PathBytes.NONE, new SlabBytes(10, memory, memory, 0, 0, 0));
    }
}
