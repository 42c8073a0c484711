/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.BlockStoreShuffleReader;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.rdma.buffers.BlockRange;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog.MapOutputId;
import org.apache.spark.shuffle.rdma.compat.BlockManagerViews;
import org.apache.spark.shuffle.rdma.compat.RowSerializers;
import org.apache.spark.shuffle.rdma.compat.ScalaLists;
import org.apache.spark.shuffle.rdma.read.DirectRowReader;
import org.apache.spark.shuffle.rdma.read.ReaderParts;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.BlockManagerId;
import scala.Product2;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.collection.Seq;

/** Makes the reader of one reduce task: the direct one for SQL's rows, else Spark's own over our block client. */
final class ReaderFactory<K, C> {
    private final BaseShuffleHandle<K, Object, C> handle;
    private final TaskContext context;
    private final ShuffleReadMetricsReporter metrics;
    private final ExecutorRuntime runtime;
    private final SparkEnv env;
    private final SparkConf conf;

    @SuppressWarnings("unchecked")
    ReaderFactory(
            BaseShuffleHandle<K, ?, C> handle,
            TaskContext context,
            ShuffleReadMetricsReporter metrics,
            ExecutorRuntime runtime,
            SparkEnv env) {
        this.handle = (BaseShuffleHandle<K, Object, C>) handle;
        this.context = context;
        this.metrics = metrics;
        this.runtime = runtime;
        this.env = env;
        this.conf = env.conf();
    }

    /** A reader of map outputs {@code startMap} to {@code endMap} and partitions {@code start} to {@code end}. */
    ShuffleReader<K, C> reader(int startMap, int endMap, int start, int end, boolean isDirectAllowed) {
        Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> wanted =
                env.mapOutputTracker().getMapSizesByExecutorId(handle.shuffleId(), startMap, endMap, start, end);
        boolean isBatch = SortShuffleManager.canUseBatchFetch(start, end, context);
        if (!isDirectAllowed || !isForDirectRows()) {
            return sparkReader(wanted, isBatch);
        }
        List<Tuple2<BlockManagerId, List<Tuple3<BlockId, Object, Object>>>> blocks = new ArrayList<>();
        while (wanted.hasNext()) {
            Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>> ofExecutor = wanted.next();
            blocks.add(new Tuple2<>(ofExecutor._1(), ScalaLists.toJava(ofExecutor._2())));
        }
        return new DirectRowReader<>(
                blocks,
                RowSerializers.numFields(handle.dependency().serializer()),
                context,
                metrics,
                runtime.readPaths(),
                runtime.catalog(),
                env.blockManager().blockManagerId(),
                others -> readBySpark(others, isBatch),
                isBatch);
    }

    private boolean isForDirectRows() {
        return RowSerializers.isForRows(handle.dependency().serializer())
                && handle.dependency().aggregator().isEmpty()
                && handle.dependency().keyOrdering().isEmpty();
    }

    private Iterator<Product2<K, C>> readBySpark(
            List<Tuple2<BlockManagerId, List<Tuple3<BlockId, Object, Object>>>> blocks, boolean isBatch) {
        List<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> asScala = new ArrayList<>();
        blocks.forEach(ofExecutor -> asScala.add(new Tuple2<>(ofExecutor._1(), ScalaLists.toScala(ofExecutor._2()))));
        return sparkReader(ScalaLists.toScala(asScala).iterator(), isBatch).read();
    }

    private ShuffleReader<K, C> sparkReader(
            Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> wanted, boolean isBatch) {
        ReaderParts parts = ReaderParts.of(
                runtime.readPaths(), metrics, env.serializerManager(), env.serializer(), conf, this::isOwnRaw);
        BlockManager view = BlockManagerViews.withClient(env.blockManager(), parts.client());
        return new BlockStoreShuffleReader<>(
                handle, wanted, context, parts.metrics(), parts.streams(), view, env.mapOutputTracker(), isBatch);
    }

    private boolean isOwnRaw(BlockRange range) {
        MapOutputCatalog catalog = runtime.catalog();
        return catalog.isRaw(new MapOutputId(range.shuffleId(), range.mapId()));
    }
}
