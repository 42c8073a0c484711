/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.read;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.spark.shuffle.rdma.buffers.BlockRange;
import org.apache.spark.shuffle.rdma.catalog.MapOutput;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog.MapOutputId;
import org.apache.spark.shuffle.rdma.catalog.StoredBlock;
import org.apache.spark.shuffle.rdma.metrics.PathCounters;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** This executor's own map outputs, held until the task ends. */
final class OwnBlockSource implements BlockSource {
    private static final Logger LOG = LoggerFactory.getLogger(OwnBlockSource.class);

    private final MapOutputCatalog catalog;
    private final PathCounters counters;
    private final boolean isVerifying;
    private final List<MapOutput> held = new ArrayList<>();

    OwnBlockSource(MapOutputCatalog catalog, PathCounters counters, boolean isVerifying) {
        this.catalog = catalog;
        this.counters = counters;
        this.isVerifying = isVerifying;
    }

    @Override
    public Optional<RawBlock> readRaw(BlockRange range) throws IOException {
        Optional<MapOutput> output = catalog.acquire(new MapOutputId(range.shuffleId(), range.mapId()));
        if (output.isEmpty()) {
            return Optional.empty();
        }
        held.add(output.get());
        if (!output.get().entry().isRaw()) {
            return Optional.empty();
        }
        StoredBlock block = catalog.read(output.get(), range.start(), range.end());
        if (isVerifying) {
            block.verify(range.blockId() + " of this executor");
        }
        return Optional.of(new RawBlock(range, output.get().entry(), block));
    }

    @Override
    public void verifyUnchanged(RawBlock block) {
        // What is held is not recycled.
    }

    @Override
    public void failed(BlockRange range, Exception cause) {
        LOG.warn("{} of this executor: {}", range.blockId(), cause.toString());
    }

    @Override
    public void count(RawBlock block) {
        counters.local(block.block().bytes(), block.block().isOverflow());
    }

    @Override
    public void close() {
        held.forEach(MapOutput::release);
        held.clear();
    }
}
