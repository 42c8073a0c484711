/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.read;

import java.io.InputStream;
import org.apache.spark.SparkConf;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.serializer.SerializerManager;
import org.apache.spark.storage.BlockId;

/** Undoes compression and encryption as Spark does, except of blocks that are raw. */
final class RawAwareStreams extends SerializerManager {
    private final SerializerManager spark;
    private final RawBlocks raw;

    /**
     * @param spark does it for blocks that are not raw
     * @param serializer Spark's default one
     */
    RawAwareStreams(SerializerManager spark, Serializer serializer, SparkConf conf, RawBlocks raw) {
        super(serializer, conf);
        this.spark = spark;
        this.raw = raw;
    }

    @Override
    public InputStream wrapStream(BlockId blockId, InputStream in) {
        return raw.isRaw(blockId.name()) ? in : spark.wrapStream(blockId, in);
    }

    @Override
    public boolean encryptionEnabled() {
        return spark.encryptionEnabled();
    }
}
