/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.write;

import java.io.IOException;
import java.util.Optional;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.TaskContext;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog.MapOutputId;
import org.apache.spark.shuffle.rdma.catalog.MapOutputData;
import org.apache.spark.shuffle.rdma.compat.RowChecksums;
import org.apache.spark.shuffle.rdma.compat.RowSerializers;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.util.TaskCompletionListener;
import org.sparkrdma.transport.memory.SlabPool;
import scala.Option;
import scala.Product2;
import scala.collection.Iterator;

/**
 * Writes each record once, into the slab where it stays: one pass over the records, no temporary file, no sort, no
 * second copy; where partitions are too many for that, once more from task memory. For serializers whose records can be
 * put in any order, without map-side combine. The bytes are raw: neither compressed nor encrypted.
 *
 * <p>Threading: one map task. Its memory goes back when the task ends without having published it, however it ends.
 */
public final class DirectShuffleWriter<K, V> extends ShuffleWriter<K, V> {
    private final MapOutputId id;
    private final BlockManagerId location;
    private final MapOutputCatalog catalog;
    private final SlabPool pool;
    private final ShuffleWriteMetricsReporter metrics;
    private final TaskMetrics taskMetrics;
    private final PartitionChunks chunks;
    private final Optional<GatheredRecords> gathered;
    private final RowChecksums checksums;
    private final RecordAppender<K, V> appender;
    private long[] lengths = {};
    private MapStatus status;
    private boolean isPublished;

    /**
     * @param dependency what is shuffled
     * @param id name of the map output
     * @param location where reducers are told to find it
     * @param isGathering whether records are gathered in task memory first
     * @param context of the map task
     * @param metrics of the map task
     */
    public DirectShuffleWriter(
            ShuffleDependency<K, V, ?> dependency,
            MapOutputId id,
            BlockManagerId location,
            boolean isGathering,
            TaskContext context,
            ShuffleWriteMetricsReporter metrics,
            MapOutputCatalog catalog,
            SlabPool pool) {
        int partitions = dependency.partitioner().numPartitions();
        this.id = id;
        this.location = location;
        this.catalog = catalog;
        this.pool = pool;
        this.metrics = metrics;
        this.chunks = new PartitionChunks(pool, partitions, PartitionChunks.largestChunkFor(partitions));
        this.taskMetrics = context.taskMetrics();
        this.gathered = isGathering
                ? Optional.of(new GatheredRecords(context.taskMemoryManager(), partitions, chunks, taskMetrics))
                : Optional.empty();
        this.checksums = RowChecksums.of(dependency);
        this.appender = RowSerializers.isForRows(dependency.serializer())
                ? new RowAppender<>(dependency, checksums)
                : new SerializedAppender<>(dependency, checksums);
        context.addTaskCompletionListener((TaskCompletionListener) ended -> freeUnpublished());
    }

    @Override
    public void write(Iterator<Product2<K, V>> records) throws IOException {
        long count = appender.appendAll(records, gathered.isPresent() ? gathered.get() : chunks);
        long start = System.nanoTime();
        if (gathered.isPresent()) {
            gathered.get().layOut();
            taskMetrics.incPeakExecutionMemory(gathered.get().peak());
        }
        MapOutputData data = chunks.finish();
        catalog.publish(id, data, pool);
        isPublished = true;
        lengths = data.lengths();
        status = checksums.mapStatus(location, lengths, id.mapId());
        long bytes = 0;
        for (long length : lengths) {
            bytes += length;
        }
        metrics.incRecordsWritten(count);
        metrics.incBytesWritten(bytes);
        metrics.incWriteTime(System.nanoTime() - start);
    }

    @Override
    public Option<MapStatus> stop(boolean success) {
        if (success) {
            return Option.apply(status);
        }
        if (isPublished) {
            // The task failed after its output had been published.
            catalog.withdraw(id);
        }
        freeUnpublished();
        return Option.empty();
    }

    @Override
    public long[] getPartitionLengths() {
        return lengths;
    }

    private void freeUnpublished() {
        gathered.ifPresent(GatheredRecords::free);
        if (!isPublished) {
            chunks.free();
        }
    }
}
