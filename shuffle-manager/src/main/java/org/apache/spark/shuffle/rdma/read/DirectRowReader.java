/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.read;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import org.apache.spark.InterruptibleIterator;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog;
import org.apache.spark.shuffle.rdma.fallback.PeerName;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.util.TaskCompletionListener;
import scala.Product2;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * Reads SQL's rows where they lie: this executor's own map outputs, and those of peers whose memory a transport reaches.
 * Blocks of other peers, and blocks that turn out to be compressed or broken, come through Spark's own reader, whose
 * fetches run while rows are read in place.
 *
 * <p>Threading: the task's thread.
 */
public final class DirectRowReader<K, C> implements ShuffleReader<K, C> {
    private final List<Tuple2<BlockManagerId, List<Tuple3<BlockId, Object, Object>>>> wanted;
    private final int numFields;
    private final TaskContext context;
    private final ShuffleReadMetricsReporter metrics;
    private final ReadPaths paths;
    private final MapOutputCatalog catalog;
    private final BlockManagerId self;
    private final SparkReader<K, C> spark;
    private final boolean isBatch;

    /**
     * @param wanted blocks by executor
     * @param numFields fields of a row
     * @param self this executor
     * @param spark reads what is not read in place
     * @param isBatch whether neighbouring blocks of a map output count as one
     */
    public DirectRowReader(
            List<Tuple2<BlockManagerId, List<Tuple3<BlockId, Object, Object>>>> wanted,
            int numFields,
            TaskContext context,
            ShuffleReadMetricsReporter metrics,
            ReadPaths paths,
            MapOutputCatalog catalog,
            BlockManagerId self,
            SparkReader<K, C> spark,
            boolean isBatch) {
        this.wanted = wanted;
        this.numFields = numFields;
        this.context = context;
        this.metrics = metrics;
        this.paths = paths;
        this.catalog = catalog;
        this.self = self;
        this.spark = spark;
        this.isBatch = isBatch;
    }

    @Override
    public Iterator<Product2<K, C>> read() {
        List<BlockSource> sources = new ArrayList<>();
        context.addTaskCompletionListener((TaskCompletionListener) ended -> {
            context.taskMetrics().mergeShuffleReadMetrics();
            sources.forEach(BlockSource::close);
        });
        List<List<BlockRun>> inPlace = new ArrayList<>();
        List<Tuple2<BlockManagerId, List<Tuple3<BlockId, Object, Object>>>> others = new ArrayList<>();
        for (Tuple2<BlockManagerId, List<Tuple3<BlockId, Object, Object>>> ofExecutor : wanted) {
            Optional<BlockSource> source = sourceOf(ofExecutor._1());
            if (source.isPresent()) {
                sources.add(source.get());
                inPlace.add(BlockRun.of(ofExecutor._1(), source.get(), ofExecutor._2()));
            } else {
                others.add(ofExecutor);
            }
        }
        // Not all reducers begin with the same executor.
        Collections.shuffle(inPlace);
        List<BlockRun> aside = new ArrayList<>();
        Iterator<Product2<K, C>> fetched = others.isEmpty() ? null : spark.read(others);
        DirectRowIterator direct = new DirectRowIterator(
                inPlace.stream().flatMap(List::stream).toList(), numFields, aside::add, metrics, isBatch);
        // Listeners are called last one first: before the metrics are merged.
        context.addTaskCompletionListener((TaskCompletionListener) ended -> direct.countRecords());
        @SuppressWarnings("unchecked")
        Iterator<Product2<K, C>> rows = (Iterator<Product2<K, C>>) (Iterator<?>) direct;
        return new InterruptibleIterator<>(context, new InTurn(rows, fetched, aside));
    }

    private Optional<BlockSource> sourceOf(BlockManagerId address) {
        if (address.executorId().equals(self.executorId())) {
            return Optional.of(new OwnBlockSource(catalog, paths.counters(), paths.isVerifying()));
        }
        PeerName peer = new PeerName(address.executorId(), address.host(), address.port());
        return paths.open(peer).map(open -> new PeerBlockSource(peer, open, paths));
    }

    private List<Tuple2<BlockManagerId, List<Tuple3<BlockId, Object, Object>>>> byAddress(List<BlockRun> runs) {
        Map<BlockManagerId, List<Tuple3<BlockId, Object, Object>>> blocks = new LinkedHashMap<>();
        for (BlockRun run : runs) {
            blocks.computeIfAbsent(run.address(), address -> new ArrayList<>()).addAll(run.blocks());
        }
        List<Tuple2<BlockManagerId, List<Tuple3<BlockId, Object, Object>>>> list = new ArrayList<>();
        blocks.forEach((address, ofExecutor) -> list.add(new Tuple2<>(address, ofExecutor)));
        return list;
    }

    /** Rows in place, then what was fetched meanwhile, then what had to be put aside. */
    private final class InTurn extends AbstractIterator<Product2<K, C>> {
        private final List<BlockRun> aside;
        private Iterator<Product2<K, C>> current;
        private Iterator<Product2<K, C>> fetched;

        InTurn(Iterator<Product2<K, C>> rows, Iterator<Product2<K, C>> fetched, List<BlockRun> aside) {
            this.current = rows;
            this.fetched = fetched;
            this.aside = aside;
        }

        @Override
        public boolean hasNext() {
            while (!current.hasNext()) {
                if (fetched != null) {
                    current = fetched;
                    fetched = null;
                } else if (!aside.isEmpty()) {
                    current = spark.read(byAddress(aside));
                    aside.clear();
                } else {
                    return false;
                }
            }
            return true;
        }

        @Override
        public Product2<K, C> next() {
            if (!hasNext()) {
                throw new NoSuchElementException("all rows were read");
            }
            return current.next();
        }
    }
}
