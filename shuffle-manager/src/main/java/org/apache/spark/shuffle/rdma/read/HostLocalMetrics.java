/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.read;

import org.apache.spark.shuffle.ShuffleReadMetricsReporter;

/**
 * Counts blocks that came from this host's memory as local ones; passes everything else on.
 *
 * <p>Spark's reader counts a fetched block by {@code incRemoteBlocksFetched(1)}, then {@code incRemoteBytesRead(size)},
 * on the task's thread.
 */
final class HostLocalMetrics implements ShuffleReadMetricsReporter {
    private final ShuffleReadMetricsReporter reporter;
    private final PathLedger ledger;
    private boolean isHostLocal;

    HostLocalMetrics(ShuffleReadMetricsReporter reporter, PathLedger ledger) {
        this.reporter = reporter;
        this.ledger = ledger;
    }

    @Override
    public void incRemoteBlocksFetched(long blocks) {
        isHostLocal = ledger.nextIsHostLocal();
        if (isHostLocal) {
            reporter.incLocalBlocksFetched(blocks);
        } else {
            reporter.incRemoteBlocksFetched(blocks);
        }
    }

    @Override
    public void incRemoteBytesRead(long bytes) {
        if (isHostLocal) {
            reporter.incLocalBytesRead(bytes);
        } else {
            reporter.incRemoteBytesRead(bytes);
        }
    }

    @Override
    public void incLocalBlocksFetched(long blocks) {
        reporter.incLocalBlocksFetched(blocks);
    }

    @Override
    public void incLocalBytesRead(long bytes) {
        reporter.incLocalBytesRead(bytes);
    }

    @Override
    public void incRemoteBytesReadToDisk(long bytes) {
        reporter.incRemoteBytesReadToDisk(bytes);
    }

    @Override
    public void incFetchWaitTime(long millis) {
        reporter.incFetchWaitTime(millis);
    }

    @Override
    public void incRecordsRead(long records) {
        reporter.incRecordsRead(records);
    }

    @Override
    public void incCorruptMergedBlockChunks(long chunks) {
        reporter.incCorruptMergedBlockChunks(chunks);
    }

    @Override
    public void incMergedFetchFallbackCount(long count) {
        reporter.incMergedFetchFallbackCount(count);
    }

    @Override
    public void incRemoteMergedBlocksFetched(long blocks) {
        reporter.incRemoteMergedBlocksFetched(blocks);
    }

    @Override
    public void incLocalMergedBlocksFetched(long blocks) {
        reporter.incLocalMergedBlocksFetched(blocks);
    }

    @Override
    public void incRemoteMergedChunksFetched(long chunks) {
        reporter.incRemoteMergedChunksFetched(chunks);
    }

    @Override
    public void incLocalMergedChunksFetched(long chunks) {
        reporter.incLocalMergedChunksFetched(chunks);
    }

    @Override
    public void incRemoteMergedBytesRead(long bytes) {
        reporter.incRemoteMergedBytesRead(bytes);
    }

    @Override
    public void incLocalMergedBytesRead(long bytes) {
        reporter.incLocalMergedBytesRead(bytes);
    }

    @Override
    public void incRemoteReqsDuration(long millis) {
        reporter.incRemoteReqsDuration(millis);
    }

    @Override
    public void incRemoteMergedReqsDuration(long millis) {
        reporter.incRemoteMergedReqsDuration(millis);
    }
}
