/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.read;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import scala.Product2;
import scala.Tuple2;
import scala.collection.AbstractIterator;

/**
 * SQL's rows of raw blocks, each where it lies: one row object points at one row after the other, as Spark's own
 * deserializer re-uses its one. Blocks that cannot be read this way are put aside.
 */
final class DirectRowIterator extends AbstractIterator<Product2<Object, UnsafeRow>> {
    private final Iterator<BlockRun> runs;
    private final Consumer<BlockRun> aside;
    private final ShuffleReadMetricsReporter metrics;
    private final boolean isBatch;
    private final UnsafeRow row;
    private final Tuple2<Object, UnsafeRow> record;
    private BlockRun run;
    private BlockSource.RawBlock block;
    private RowCursor cursor;
    private boolean isReady;
    private long records;

    /**
     * @param runs what to read, in this order
     * @param numFields fields of a row
     * @param aside takes runs that have to be read another way
     * @param isBatch whether a run counts as one block, as it does where Spark fetches it as one
     */
    DirectRowIterator(
            List<BlockRun> runs,
            int numFields,
            Consumer<BlockRun> aside,
            ShuffleReadMetricsReporter metrics,
            boolean isBatch) {
        this.runs = runs.iterator();
        this.aside = aside;
        this.metrics = metrics;
        this.isBatch = isBatch;
        this.row = new UnsafeRow(numFields);
        this.record = new Tuple2<>(0, row);
    }

    @Override
    public boolean hasNext() {
        if (!isReady) {
            try {
                isReady = advance();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return isReady;
    }

    @Override
    public Product2<Object, UnsafeRow> next() {
        if (!hasNext()) {
            throw new java.util.NoSuchElementException("all rows were read");
        }
        isReady = false;
        records++;
        return record;
    }

    /** Counts the records that were read of a block that was not read to its end. */
    void countRecords() {
        metrics.incRecordsRead(records);
        records = 0;
    }

    private boolean advance() throws IOException {
        while (cursor == null || !cursor.advance()) {
            if (cursor != null) {
                finishBlock();
            }
            if (!openNext()) {
                return false;
            }
        }
        return true;
    }

    private void finishBlock() throws IOException {
        run.source().verifyUnchanged(block);
        cursor = null;
        block = null;
        countRecords();
    }

    private boolean openNext() {
        while (runs.hasNext()) {
            run = runs.next();
            Optional<BlockSource.RawBlock> found;
            try {
                found = run.isBroken() ? Optional.empty() : run.source().readRaw(run.range());
            } catch (IOException | RuntimeException e) {
                run.source().failed(run.range(), e);
                run.breakSource();
                found = Optional.empty();
            }
            if (found.isPresent()) {
                block = found.get();
                cursor = new RowCursor(run.range().blockId(), block.block().slices(), row);
                run.source().count(block);
                metrics.incLocalBlocksFetched(isBatch ? 1 : run.blocks().size());
                metrics.incLocalBytesRead(block.block().bytes());
                return true;
            }
            aside.accept(run);
        }
        return false;
    }
}
