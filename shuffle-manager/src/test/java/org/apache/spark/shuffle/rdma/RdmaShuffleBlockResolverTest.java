/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.HashPartitioner;
import org.apache.spark.TaskContext$;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.client.StreamCallbackWithID;
import org.apache.spark.shuffle.ShuffleBlockInfo;
import org.apache.spark.shuffle.rdma.buffers.BlockRange;
import org.apache.spark.shuffle.rdma.catalog.ChecksumMismatchException;
import org.apache.spark.shuffle.rdma.catalog.ExecutorMemory;
import org.apache.spark.shuffle.rdma.catalog.MapOutput;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog.MapOutputId;
import org.apache.spark.shuffle.rdma.catalog.StoredBlock;
import org.apache.spark.shuffle.rdma.compat.ScalaLists;
import org.apache.spark.shuffle.rdma.fallback.BootstrapAnswer;
import org.apache.spark.shuffle.rdma.write.MapOutputImport;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockId$;
import org.apache.spark.storage.ShuffleDataBlockId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.transport.memory.ExtentChain;
import scala.Option;
import scala.Tuple2;

class RdmaShuffleBlockResolverTest {
    @TempDir
    private Path home;

    @Test
    void theReservedBlockTellsTheEndpoint() throws IOException {
        try (LocalSpark spark = LocalSpark.open(Map.of())) {
            RdmaShuffleBlockResolver resolver = resolver(spark);
            assertTrue(
                    BootstrapAnswer.decode(block(resolver, BlockRange.BOOTSTRAP).nioByteBuffer())
                            .isEmpty());
            shuffle(spark, 5);

            assertEquals(
                    spark.manager().runtime().catalog().endpoint(),
                    BootstrapAnswer.decode(block(resolver, BlockRange.BOOTSTRAP).nioByteBuffer())
                            .orElseThrow());
        }
    }

    @Test
    void aBlockThatIsNotHereIsAnIoException() {
        try (LocalSpark spark = LocalSpark.open(Map.of())) {
            shuffle(spark, 5);
            // Declared nowhere, but what Spark's callers catch.
            assertThrows(IOException.class, () -> block(resolver(spark), "shuffle_0_999_0"));
            assertThrows(IOException.class, () -> block(resolver(spark), framed("shuffle_0_999_0")));
            assertThrows(IOException.class, () -> block(resolver(spark), framed("shuffle_0_0_77")));
        }
    }

    @ParameterizedTest(name = "raw: {0}")
    @ValueSource(booleans = {true, false})
    void blocksThatWereLookedUpAndForgottenKeepNoMemory(boolean isRaw) throws InterruptedException {
        try (LocalSpark spark = LocalSpark.open(Map.of("spark.shuffle.rdma.direct.write", String.valueOf(isRaw)))) {
            shuffle(spark, 5);
            // What Spark's server does when a later block of the same request is not there.
            for (MapOutputId id : spark.manager().runtime().catalog().stored()) {
                String plain = "shuffle_" + id.shuffleId() + "_" + id.mapId() + "_0";
                assertTrue(block(resolver(spark), plain).size() > 0);
                assertTrue(block(resolver(spark), framed(plain)).size() > 0);
            }
            spark.unregisterAll();

            for (int i = 0; i < 100 && spark.inUse() > 0; i++) {
                System.gc();
                Thread.sleep(20);
            }
            assertEquals(0, spark.inUse());
        }
    }

    @ParameterizedTest(name = "direct: {0}")
    @ValueSource(booleans = {true, false})
    void aThreadWithoutATaskReadsTheSameRecords(boolean isDirect) {
        try (LocalSpark spark = LocalSpark.open(Map.of("spark.shuffle.rdma.direct.write", String.valueOf(isDirect)))) {
            JavaPairRDD<Integer, String> shuffled = Jobs.byKryo(Jobs.pairs(spark.context()), 6);
            long expected = shuffled.count();
            long inThreads = shuffled.coalesce(2)
                    .mapPartitions(records -> {
                        List<Long> counts = new ArrayList<>();
                        List<Throwable> failures = new ArrayList<>();
                        Thread thread = new Thread(() -> {
                            long count = 0;
                            try {
                                while (records.hasNext()) {
                                    count += records.next()._2().startsWith("value ") ? 1 : 0;
                                }
                            } catch (Throwable e) {
                                failures.add(e);
                            }
                            counts.add(count);
                        });
                        thread.start();
                        thread.join();
                        if (!failures.isEmpty()) {
                            throw new IllegalStateException(failures.get(0));
                        }
                        return counts.iterator();
                    })
                    .reduce(Long::sum);

            assertEquals(expected, inThreads);
        }
    }

    @ParameterizedTest(name = "raw: {0}")
    @ValueSource(booleans = {true, false})
    void mapOutputsMigrateToAnotherExecutorAsTheyAre(boolean isRaw) throws IOException {
        try (LocalSpark spark = LocalSpark.open(Map.of("spark.shuffle.rdma.direct.write", String.valueOf(isRaw)));
                ExecutorMemory other = new ExecutorMemory(home)) {
            shuffle(spark, 5);
            RdmaShuffleBlockResolver resolver = resolver(spark);
            MapOutputCatalog here = spark.manager().runtime().catalog();
            MapOutputImport there = new MapOutputImport(other.catalog(), other.pool(), System::nanoTime);
            List<ShuffleBlockInfo> stored = ScalaLists.toJava(resolver.getStoredShuffles());
            assertEquals(here.stored().size(), stored.size());

            for (ShuffleBlockInfo info : stored) {
                MapOutputId id = new MapOutputId(info.shuffleId(), info.mapId());
                for (Tuple2<BlockId, ManagedBuffer> part : ScalaLists.toJava(resolver.getMigrationBlocks(info))) {
                    ByteBuffer bytes = part._2().nioByteBuffer();
                    if (part._1() instanceof ShuffleDataBlockId) {
                        ExtentChain data = there.newData();
                        data.append(bytes);
                        there.dataArrived(id, data);
                    } else {
                        there.indexArrived(id, bytes);
                    }
                }
                MapOutput mine = here.acquire(id).orElseThrow();
                MapOutput theirs = other.catalog().acquire(id).orElseThrow();
                assertEquals(isRaw, theirs.entry().isRaw());
                try (StoredBlock expected = here.read(mine, 1, 4);
                        StoredBlock found = other.catalog().read(theirs, 1, 4)) {
                    found.verify("migrated");
                    assertArrayEquals(expected.lengths(), found.lengths());
                    assertArrayEquals(ExecutorMemory.bytes(expected.slices()), ExecutorMemory.bytes(found.slices()));
                }
                mine.release();
                theirs.release();
            }
        }
    }

    @Test
    void whatMigratesHereIsReadByTheNextJob() throws IOException {
        try (LocalSpark spark = LocalSpark.open(Map.of())) {
            JavaPairRDD<Integer, String> shuffled = Jobs.pairs(spark.context()).partitionBy(new HashPartitioner(5));
            List<String> expected = Jobs.perPartition(shuffled);
            RdmaShuffleBlockResolver resolver = resolver(spark);
            for (ShuffleBlockInfo info : ScalaLists.toJava(resolver.getStoredShuffles())) {
                List<Tuple2<BlockId, ManagedBuffer>> parts = ScalaLists.toJava(resolver.getMigrationBlocks(info));
                List<byte[]> sent = new ArrayList<>();
                for (Tuple2<BlockId, ManagedBuffer> part : parts) {
                    sent.add(part._2().createInputStream().readAllBytes());
                }
                resolver.removeDataByMap(info.shuffleId(), info.mapId());
                assertEquals(
                        0, ScalaLists.toJava(resolver.getMigrationBlocks(info)).size());
                for (int i = 0; i < sent.size(); i++) {
                    StreamCallbackWithID stream =
                            resolver.putShuffleBlockAsStream(parts.get(i)._1(), null);
                    try (InputStream in = new java.io.ByteArrayInputStream(sent.get(i));
                            var channel = Channels.newChannel(in)) {
                        ByteBuffer step = ByteBuffer.allocate(10_000);
                        while (channel.read(step) >= 0) {
                            stream.onData(stream.getID(), step.flip());
                            step.clear();
                        }
                    }
                    stream.onComplete(stream.getID());
                }
            }

            assertEquals(expected, Jobs.perPartition(shuffled));
        }
    }

    @Test
    void aMigrationThatBreaksOffKeepsNoMemory() throws IOException {
        try (LocalSpark spark = LocalSpark.open(Map.of())) {
            StreamCallbackWithID stream =
                    resolver(spark).putShuffleBlockAsStream(BlockId$.MODULE$.apply("shuffle_1_2_0.data"), null);
            stream.onData(stream.getID(), ByteBuffer.allocate(100_000));
            assertTrue(spark.inUse() > 0);
            stream.onFailure(stream.getID(), new IOException("on purpose"));

            assertEquals(0, spark.inUse());
        }
    }

    @Test
    void shufflesThatAreToBeSkippedAreNotMigrated() {
        try (LocalSpark spark = LocalSpark.open(Map.of())) {
            shuffle(spark, 5);
            resolver(spark).addShuffleToSkip(0);

            assertEquals(
                    0, ScalaLists.toJava(resolver(spark).getStoredShuffles()).size());
        }
    }

    @ParameterizedTest(name = "verifying: {0}")
    @ValueSource(booleans = {true, false})
    void aTasksOwnBlocksAreVerifiedUnlessToldOtherwise(boolean isVerifying) throws IOException {
        try (LocalSpark spark =
                LocalSpark.open(Map.of("spark.shuffle.rdma.checksum.verify", String.valueOf(isVerifying)))) {
            shuffle(spark, 1);
            MapOutputId id = spark.manager().runtime().catalog().stored().get(0);
            TaskFailureTest.damage(spark.manager().runtime());
            String block = "shuffle_" + id.shuffleId() + "_" + id.mapId() + "_0";
            TaskContext$.MODULE$.setTaskContext(TaskContext$.MODULE$.empty());
            try {
                if (isVerifying) {
                    assertThrows(ChecksumMismatchException.class, () -> block(resolver(spark), block));
                } else {
                    assertTrue(block(resolver(spark), block).size() > 0);
                }
            } finally {
                TaskContext$.MODULE$.unset();
            }
        }
    }

    private static void shuffle(LocalSpark spark, int partitions) {
        assertTrue(Jobs.byKryo(Jobs.pairs(spark.context()), partitions).count() > 0);
    }

    private static RdmaShuffleBlockResolver resolver(LocalSpark spark) {
        return (RdmaShuffleBlockResolver) spark.manager().shuffleBlockResolver();
    }

    private static ManagedBuffer block(RdmaShuffleBlockResolver resolver, String blockId) {
        return resolver.getBlockData(BlockId$.MODULE$.apply(blockId), Option.empty());
    }

    private static String framed(String blockId) {
        return BlockRange.parse(blockId).orElseThrow().framed().blockId();
    }
}
