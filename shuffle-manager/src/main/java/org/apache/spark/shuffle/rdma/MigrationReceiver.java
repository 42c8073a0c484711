/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import org.apache.spark.SparkEnv;
import org.apache.spark.network.client.StreamCallbackWithID;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog.MapOutputId;
import org.apache.spark.shuffle.rdma.write.MapOutputImport;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockStatus;
import org.apache.spark.storage.ShuffleDataBlockId;
import org.apache.spark.storage.ShuffleIndexBlockId;
import org.apache.spark.storage.StorageLevel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkrdma.transport.memory.ExtentChain;

/** Takes the data or the index of a map output that migrates here, and reports it to the driver when it is in place. */
final class MigrationReceiver implements StreamCallbackWithID {
    private static final Logger LOG = LoggerFactory.getLogger(MigrationReceiver.class);

    private final BlockId blockId;
    private final MapOutputImport imports;
    private final ExtentChain data;
    private final ByteArrayOutputStream index = new ByteArrayOutputStream();
    private final WritableByteChannel indexChannel = Channels.newChannel(index);
    private long bytes;

    MigrationReceiver(BlockId blockId, MapOutputImport imports) {
        if (!(blockId instanceof ShuffleDataBlockId) && !(blockId instanceof ShuffleIndexBlockId)) {
            throw new IllegalArgumentException("not a part of a map output: " + blockId);
        }
        this.blockId = blockId;
        this.imports = imports;
        this.data = imports.newData();
    }

    @Override
    public String getID() {
        return blockId.name();
    }

    @Override
    public void onData(String streamId, ByteBuffer part) throws IOException {
        bytes += part.remaining();
        if (blockId instanceof ShuffleDataBlockId) {
            data.append(part);
        } else {
            indexChannel.write(part);
        }
    }

    @Override
    public void onComplete(String streamId) throws IOException {
        if (blockId instanceof ShuffleDataBlockId block) {
            imports.dataArrived(new MapOutputId(block.shuffleId(), block.mapId()), data);
        } else if (blockId instanceof ShuffleIndexBlockId block) {
            imports.indexArrived(
                    new MapOutputId(block.shuffleId(), block.mapId()), ByteBuffer.wrap(index.toByteArray()));
        }
        SparkEnv.get()
                .blockManager()
                .reportBlockStatus(blockId, new BlockStatus(StorageLevel.DISK_ONLY(), 0, bytes), 0);
    }

    @Override
    public void onFailure(String streamId, Throwable cause) {
        LOG.warn("{} did not arrive whole", blockId, cause);
        data.free();
    }
}
