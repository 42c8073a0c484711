/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.catalog;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.sparkrdma.transport.api.HostIdentity;
import org.sparkrdma.transport.api.PeerEndpoint;
import org.sparkrdma.transport.api.ProcessIdentity;
import org.sparkrdma.transport.api.ReadLease;
import org.sparkrdma.transport.api.RemoteRange;
import org.sparkrdma.transport.memory.Extent;
import org.sparkrdma.transport.memory.ExtentChain;
import org.sparkrdma.transport.memory.SegmentFile;
import org.sparkrdma.transport.memory.Slab;
import org.sparkrdma.transport.memory.SlabListener;
import org.sparkrdma.transport.memory.SlabPool;
import org.sparkrdma.transport.wire.DirectoryEntryLayout.Entry;
import org.sparkrdma.transport.wire.PartitionIndexLayout;

/**
 * The map outputs of this executor: published for peers in the directory, and found here by the executor itself.
 *
 * <p>Threading: any thread.
 */
public final class MapOutputCatalog implements AutoCloseable {
    private final String executorId;
    private final Directory directory;
    private final Map<Integer, Slab> slabs = new ConcurrentHashMap<>();
    private final Map<Integer, Map<Long, MapOutput>> outputs = new ConcurrentHashMap<>();
    private final AtomicInteger generation = new AtomicInteger();
    private final SlabAccess own = new OwnSlabs();

    /**
     * @param executorId Spark's id of this executor
     * @param directoryFile memory of {@code DirectoryLayout.REGION_BYTES} that peers can map
     */
    public MapOutputCatalog(String executorId, SegmentFile directoryFile) {
        this.executorId = executorId;
        this.directory = new Directory(directoryFile);
    }

    /** Name of a map output: of which shuffle, by which map task. */
    public record MapOutputId(int shuffleId, long mapId) {}

    /** Must be told of the pool's slabs. */
    public SlabListener slabListener() {
        return new SlabListener() {
            @Override
            public void slabOpened(Slab slab) {
                slabs.put(slab.id(), slab);
                directory.slabOpened(slab);
            }

            @Override
            public void slabClosed(Slab slab) {
                directory.slabClosed(slab);
                slabs.remove(slab.id(), slab);
            }
        };
    }

    /** What this executor tells a peer that asks. */
    public PeerEndpoint endpoint() {
        return new PeerEndpoint(
                executorId,
                HostIdentity.current(),
                ProcessIdentity.current(),
                directory.sharedFile(),
                directory.token());
    }

    /**
     * Publishes a map output whose partitions follow one another in a sealed chain, which the catalog owns from here on.
     *
     * @param lengths length of each partition, bytes
     * @param crcs CRC32C of each partition
     * @param isRaw whether the bytes are the serializer's own, neither compressed nor encrypted
     * @throws IOException if there is no room for the index; the chain still belongs to the caller
     */
    public void publish(MapOutputId id, ExtentChain data, long[] lengths, int[] crcs, boolean isRaw, SlabPool pool)
            throws IOException {
        checkLengths(id, lengths, data.length());
        publish(id, new SequentialData(data, lengths, crcs, isRaw), pool);
    }

    /**
     * Publishes a map output, which the catalog owns from here on. An earlier output of the same name is replaced.
     *
     * @throws IOException if there is no room for the index; the data still belongs to the caller
     */
    public void publish(MapOutputId id, MapOutputData data, SlabPool pool) throws IOException {
        int partitions = data.lengths().length;
        long indexBytes = PartitionIndexLayout.bytes(partitions, data.pieceCount());
        Extent index = pool.trim(pool.allocate(indexBytes), indexBytes);
        Entry entry = new Entry(
                id.shuffleId(),
                id.mapId(),
                generation.incrementAndGet(),
                partitions,
                index.slab().id(),
                index.offset(),
                (int) indexBytes,
                Arrays.stream(data.lengths()).sum(),
                data.isRaw());
        try {
            writeIndex(index.view(), entry, data);
            directory.publish(entry, pool);
        } catch (IOException | RuntimeException e) {
            pool.free(index);
            throw e;
        }
        MapOutput output = new MapOutput(entry, data.givingBack(), index, pool);
        AtomicReference<MapOutput> earlier = new AtomicReference<>();
        // In one step, so that whoever takes a whole shuffle away takes this one with it or leaves it alone.
        outputs.compute(id.shuffleId(), (shuffle, known) -> {
            Map<Long, MapOutput> ofShuffle = known == null ? new ConcurrentHashMap<>() : known;
            earlier.set(ofShuffle.put(id.mapId(), output));
            return ofShuffle;
        });
        if (earlier.get() != null) {
            end(earlier.get());
        }
    }

    /** A map output of this executor, to be released by the caller; nothing if it is not here. */
    public Optional<MapOutput> acquire(MapOutputId id) {
        MapOutput output = outputs.getOrDefault(id.shuffleId(), Map.of()).get(id.mapId());
        return output != null && output.retain() ? Optional.of(output) : Optional.empty();
    }

    /** Whether a map output is here and raw. */
    public boolean isRaw(MapOutputId id) {
        MapOutput output = outputs.getOrDefault(id.shuffleId(), Map.of()).get(id.mapId());
        return output != null && output.entry().isRaw();
    }

    /** Reads partitions of a map output that the caller holds. */
    public StoredBlock read(MapOutput output, int start, int end) throws IOException {
        return BlockReader.read(own, output.entry(), start, end);
    }

    /** Withdraws one map output; answers whether it was here. */
    public boolean withdraw(MapOutputId id) {
        Map<Long, MapOutput> ofShuffle = outputs.get(id.shuffleId());
        MapOutput output = ofShuffle == null ? null : ofShuffle.remove(id.mapId());
        if (output == null) {
            return false;
        }
        end(output);
        return true;
    }

    /** Withdraws all map outputs of a shuffle. */
    public void withdrawShuffle(int shuffleId) {
        Map<Long, MapOutput> ofShuffle = outputs.remove(shuffleId);
        if (ofShuffle != null) {
            for (Long mapId : List.copyOf(ofShuffle.keySet())) {
                MapOutput output = ofShuffle.remove(mapId);
                if (output != null) {
                    end(output);
                }
            }
        }
    }

    /** The map outputs that are here now. */
    public List<MapOutputId> stored() {
        List<MapOutputId> ids = new ArrayList<>();
        outputs.forEach((shuffleId, ofShuffle) ->
                ofShuffle.keySet().forEach(mapId -> ids.add(new MapOutputId(shuffleId, mapId))));
        return ids;
    }

    /** Closes the directory, then gives up every map output. */
    @Override
    public void close() throws IOException {
        try {
            directory.close();
        } finally {
            List.copyOf(outputs.keySet()).forEach(this::withdrawShuffle);
        }
    }

    private void end(MapOutput output) {
        // Out of the directory first: a reader that looks again after reading knows that it may have raced.
        directory.withdraw(output.entry());
        output.release();
    }

    /**
     * Checks that partitions make up a map output's data.
     *
     * @throws IOException if they do not
     */
    public static void checkLengths(MapOutputId id, long[] lengths, long dataBytes) throws IOException {
        long sum = 0;
        boolean isPossible = true;
        for (long length : lengths) {
            isPossible &= length >= 0 && length <= dataBytes - sum;
            sum += length;
        }
        if (!isPossible || sum != dataBytes) {
            throw new IOException("the partitions of map " + id.mapId() + " of shuffle " + id.shuffleId()
                    + " do not add up to its data of " + dataBytes + " bytes, but to " + sum);
        }
    }

    private static void writeIndex(ByteBuffer index, Entry entry, MapOutputData data) {
        int partitions = entry.partitions();
        int[] next = {0};
        for (int partition = 0; partition < partitions; partition++) {
            PartitionIndexLayout.writePartition(
                    index, partition, data.lengths()[partition], data.crcs()[partition], next[0]);
            data.pieces(
                    partition,
                    (slabId, offset, length) ->
                            PartitionIndexLayout.writePiece(index, partitions, next[0]++, slabId, offset, length));
        }
        PartitionIndexLayout.writePartition(index, partitions, 0, 0, next[0]);
        PartitionIndexLayout.writeHeader(
                index, entry.shuffleId(), entry.mapId(), entry.generation(), partitions, next[0]);
    }

    /** This executor's own memory; whoever reads holds the map output. */
    private final class OwnSlabs implements SlabAccess {
        @Override
        public ReadLease read(RemoteRange range) throws IOException {
            Slab slab = slabs.get(range.slabId());
            if (slab == null || range.offset() + range.length() > slab.length()) {
                throw new IOException(range + " is not within a slab of this executor");
            }
            ByteBuffer bytes = slab.memory()
                    .slice((int) range.offset(), (int) range.length())
                    .asReadOnlyBuffer();
            return new ReadLease() {
                @Override
                public ByteBuffer bytes() {
                    return bytes.duplicate();
                }

                @Override
                public void close() {
                    // The memory belongs to the map output that the reader holds.
                }
            };
        }

        @Override
        public boolean isOverflow(int slabId) {
            Slab slab = slabs.get(slabId);
            return slab != null && slab.isOverflow();
        }
    }
}
