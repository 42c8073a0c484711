/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.network.client.StreamCallbackWithID;
import org.apache.spark.serializer.SerializerManager;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleBlockInfo;
import org.apache.spark.shuffle.rdma.buffers.BlockRange;
import org.apache.spark.shuffle.rdma.buffers.LentManagedBuffer;
import org.apache.spark.shuffle.rdma.buffers.MigrationIndex;
import org.apache.spark.shuffle.rdma.catalog.MapOutput;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog.MapOutputId;
import org.apache.spark.shuffle.rdma.catalog.StoredBlock;
import org.apache.spark.shuffle.rdma.compat.ScalaLists;
import org.apache.spark.shuffle.rdma.fallback.BootstrapAnswer;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleDataBlockId;
import org.apache.spark.storage.ShuffleIndexBlockId;
import org.apache.spark.util.TaskCompletionListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;
import scala.Tuple2;

/**
 * Serves map outputs out of slabs wherever Spark asks for a block: to this executor's own tasks, to peers over Netty
 * (plain or framed), to the migration of a decommissioned executor; and answers the bootstrap. What is not in the catalog
 * is left to Spark's files.
 *
 * <p>Threading: task threads and Spark's network threads.
 */
final class RdmaShuffleBlockResolver extends IndexShuffleBlockResolver {
    private static final Logger LOG = LoggerFactory.getLogger(RdmaShuffleBlockResolver.class);
    private static final int NOOP_REDUCE_ID = 0;

    private final RdmaShuffleManager manager;
    private final Set<Integer> notToMigrate = ConcurrentHashMap.newKeySet();

    RdmaShuffleBlockResolver(SparkConf conf, RdmaShuffleManager manager) {
        super(conf, null, new ConcurrentHashMap<>());
        this.manager = manager;
    }

    @Override
    public ManagedBuffer getBlockData(BlockId blockId, Option<String[]> directories) {
        Optional<BlockRange> asked = BlockRange.of(blockId);
        if (asked.isEmpty()) {
            return super.getBlockData(blockId, directories);
        }
        BlockRange range = asked.get();
        if (range.isBootstrap()) {
            return new NioManagedBuffer(BootstrapAnswer.encode(Optional.ofNullable(manager.runtimeIfAny())
                    .map(runtime -> runtime.catalog().endpoint())));
        }
        BlockRange wanted = range.isFramed() ? range.unframed() : range;
        Optional<MapOutput> output = acquire(wanted);
        try {
            if (output.isPresent()) {
                return fromSlabs(range, wanted, output.get());
            }
            if (range.isFramed()) {
                throw new IOException("map output " + wanted.mapId() + " of shuffle " + wanted.shuffleId()
                        + " is not on this executor");
            }
        } catch (IOException e) {
            throw RdmaShuffleBlockResolver.<RuntimeException>unchecked(e);
        }
        return super.getBlockData(blockId, directories);
    }

    @Override
    public void removeDataByMap(int shuffleId, long mapId) {
        ExecutorRuntime runtime = manager.runtimeIfAny();
        if (runtime == null || !runtime.catalog().withdraw(new MapOutputId(shuffleId, mapId))) {
            super.removeDataByMap(shuffleId, mapId);
        }
    }

    @Override
    public void addShuffleToSkip(int shuffleId) {
        notToMigrate.add(shuffleId);
        super.addShuffleToSkip(shuffleId);
    }

    @Override
    public scala.collection.immutable.Seq<ShuffleBlockInfo> getStoredShuffles() {
        ExecutorRuntime runtime = manager.runtimeIfAny();
        List<ShuffleBlockInfo> stored = new ArrayList<>(ScalaLists.toJava(super.getStoredShuffles()));
        if (runtime != null) {
            for (MapOutputId id : runtime.catalog().stored()) {
                if (!notToMigrate.contains(id.shuffleId())) {
                    stored.add(new ShuffleBlockInfo(id.shuffleId(), id.mapId()));
                }
            }
        }
        return ScalaLists.toScala(stored);
    }

    @Override
    public scala.collection.immutable.List<Tuple2<BlockId, ManagedBuffer>> getMigrationBlocks(ShuffleBlockInfo info) {
        Optional<MapOutput> acquired = acquire(new MapOutputId(info.shuffleId(), info.mapId()));
        if (acquired.isEmpty()) {
            return super.getMigrationBlocks(info);
        }
        MapOutput output = acquired.get();
        List<Tuple2<BlockId, ManagedBuffer>> blocks = new ArrayList<>(2);
        try {
            StoredBlock all = catalog().read(output, 0, output.entry().partitions());
            ByteBuffer index =
                    new MigrationIndex(all.lengths(), all.crcs(), output.entry().isRaw()).encode();
            if (output.dataBytes() > 0) {
                // The sender never releases what it sends; the data's checksums tell if it was recycled meanwhile.
                blocks.add(new Tuple2<>(
                        new ShuffleDataBlockId(info.shuffleId(), info.mapId(), NOOP_REDUCE_ID),
                        new LentManagedBuffer(all.slices(), Lenders.NOBODY)));
            }
            blocks.add(new Tuple2<>(
                    new ShuffleIndexBlockId(info.shuffleId(), info.mapId(), NOOP_REDUCE_ID),
                    new NioManagedBuffer(index)));
        } catch (IOException e) {
            // As Spark does with files that it cannot read: reducers find out, and the map output is computed anew.
            LOG.warn("map output {} of shuffle {} cannot be migrated", info.mapId(), info.shuffleId(), e);
            blocks.clear();
        } finally {
            output.release();
        }
        return ScalaLists.toScala(blocks).toList();
    }

    @Override
    public StreamCallbackWithID putShuffleBlockAsStream(BlockId blockId, SerializerManager serializerManager) {
        return new MigrationReceiver(blockId, manager.runtime().imports());
    }

    private ManagedBuffer fromSlabs(BlockRange range, BlockRange wanted, MapOutput output) throws IOException {
        boolean isHandedOn = false;
        try {
            ExecutorRuntime runtime = manager.runtime();
            StoredBlock block = runtime.catalog().read(output, wanted.start(), wanted.end());
            SerializerManager streams = SparkEnv.get().serializerManager();
            TaskContext task = TaskContext.get();
            ManagedBuffer buffer;
            if (range.isFramed()) {
                buffer = runtime.outgoing().framed(wanted, output, block, streams);
            } else if (task == null) {
                buffer = runtime.outgoing().plain(wanted, output, block, streams);
            } else {
                if (runtime.readPaths().isVerifying()) {
                    block.verify(wanted.blockId() + " of this executor");
                }
                // Spark does not count its own uses of local blocks: those of a task end with the task.
                buffer = new LentManagedBuffer(block.slices(), Lenders.NOBODY);
                task.addTaskCompletionListener((TaskCompletionListener) context -> output.release());
                runtime.counters().local(buffer.size(), block.isOverflow());
            }
            isHandedOn = true;
            return buffer;
        } finally {
            if (!isHandedOn) {
                output.release();
            }
        }
    }

    /** Throws as it is what Scala's methods throw without saying so: Spark catches IOException. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Throwable> E unchecked(Throwable e) throws E {
        throw (E) e;
    }

    private Optional<MapOutput> acquire(BlockRange range) {
        return acquire(new MapOutputId(range.shuffleId(), range.mapId()));
    }

    private Optional<MapOutput> acquire(MapOutputId id) {
        ExecutorRuntime runtime = manager.runtimeIfAny();
        return runtime == null ? Optional.empty() : runtime.catalog().acquire(id);
    }

    private MapOutputCatalog catalog() {
        return manager.runtime().catalog();
    }
}
