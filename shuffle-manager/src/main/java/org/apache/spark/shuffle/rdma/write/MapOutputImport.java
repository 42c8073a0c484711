/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.write;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.spark.shuffle.rdma.buffers.MigrationIndex;
import org.apache.spark.shuffle.rdma.catalog.ChecksumMismatchException;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog.MapOutputId;
import org.sparkrdma.transport.memory.ExtentChain;
import org.sparkrdma.transport.memory.SlabPool;

/**
 * Map outputs that a decommissioned executor sends here: the data first, then the index, which publishes both. Data whose
 * index does not follow is given back after a while.
 */
public final class MapOutputImport {
    private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(10);

    private final MapOutputCatalog catalog;
    private final SlabPool pool;
    private final LongSupplier nanoClock;
    private final Map<MapOutputId, Waiting> waiting = new ConcurrentHashMap<>();

    private record Waiting(ExtentChain data, long since) {}

    /** Imports into a catalog. */
    public MapOutputImport(MapOutputCatalog catalog, SlabPool pool, LongSupplier nanoClock) {
        this.catalog = catalog;
        this.pool = pool;
        this.nanoClock = nanoClock;
    }

    /** An empty chain for the data of a map output; whoever fills it calls {@link #dataArrived} or frees it. */
    public ExtentChain newData() {
        return new ExtentChain(pool);
    }

    /** Keeps data until its index arrives. */
    public void dataArrived(MapOutputId id, ExtentChain data) {
        data.seal();
        Waiting earlier = waiting.put(id, new Waiting(data, nanoClock.getAsLong()));
        if (earlier != null) {
            earlier.data().free();
        }
    }

    /**
     * Publishes a map output.
     *
     * @param index what {@link MigrationIndex} encodes
     * @throws IOException if the data did not arrive, is of another size, or does not match its checksums
     */
    public void indexArrived(MapOutputId id, ByteBuffer index) throws IOException {
        MigrationIndex decoded = MigrationIndex.decode(index);
        Waiting arrived = waiting.remove(id);
        ExtentChain data = arrived == null ? newData() : arrived.data();
        boolean isPublished = false;
        try {
            long expected = Arrays.stream(decoded.lengths()).sum();
            if (data.length() != expected) {
                throw new IOException("the index of map " + id.mapId() + " of shuffle " + id.shuffleId() + " speaks of "
                        + expected + " bytes, " + data.length() + " have arrived");
            }
            int[] crcs = PartitionChecksums.of(data, decoded.lengths());
            for (int partition = 0; partition < crcs.length; partition++) {
                if (decoded.crcs().length > 0 && crcs[partition] != decoded.crcs()[partition]) {
                    throw new ChecksumMismatchException(
                            "partition " + partition + " of map " + id.mapId() + " of shuffle " + id.shuffleId()
                                    + ", migrated here",
                            decoded.crcs()[partition],
                            crcs[partition]);
                }
            }
            catalog.publish(id, data, decoded.lengths(), crcs, decoded.isRaw(), pool);
            isPublished = true;
        } finally {
            if (!isPublished) {
                data.free();
            }
        }
    }

    /** Gives data back whose index never came. Called now and then. */
    public void maintain() {
        long now = nanoClock.getAsLong();
        waiting.forEach((id, arrived) -> {
            if (now - arrived.since() > PATIENCE_NANOS && waiting.remove(id, arrived)) {
                arrived.data().free();
            }
        });
    }
}
