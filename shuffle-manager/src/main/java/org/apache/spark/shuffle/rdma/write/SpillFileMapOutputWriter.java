/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.write;

import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.apache.spark.shuffle.api.SingleSpillShuffleMapOutputWriter;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog.MapOutputId;
import org.sparkrdma.transport.memory.ExtentChain;
import org.sparkrdma.transport.memory.SlabPool;

/** Takes over the file that Spark's serialized writer leaves when it spilled only once: read into extents, deleted. */
public final class SpillFileMapOutputWriter implements SingleSpillShuffleMapOutputWriter {
    private final MapOutputId id;
    private final boolean isRaw;
    private final MapOutputCatalog catalog;
    private final SlabPool pool;

    /**
     * A writer for one map output.
     *
     * @param isRaw whether the bytes of the file are the serializer's own, neither compressed nor encrypted
     */
    public SpillFileMapOutputWriter(MapOutputId id, boolean isRaw, MapOutputCatalog catalog, SlabPool pool) {
        this.isRaw = isRaw;
        this.id = id;
        this.catalog = catalog;
        this.pool = pool;
    }

    @Override
    public void transferMapSpillFile(File spill, long[] lengths, long[] sparkChecksums) throws IOException {
        ExtentChain data = new ExtentChain(pool);
        boolean isPublished = false;
        try {
            load(spill.toPath(), data);
            data.seal();
            MapOutputCatalog.checkLengths(id, lengths, data.length());
            catalog.publish(id, data, lengths, PartitionChecksums.of(data, lengths), isRaw, pool);
            isPublished = true;
        } finally {
            if (!isPublished) {
                data.free();
            }
        }
        Files.deleteIfExists(spill.toPath());
    }

    private static void load(Path file, ExtentChain data) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            long left = channel.size();
            while (left > 0) {
                ByteBuffer room = data.writable();
                room.limit((int) Math.min(room.remaining(), left));
                int count = channel.read(room);
                if (count < 0) {
                    throw new EOFException("spill file " + file + " ended " + left + " bytes early");
                }
                data.advance(count);
                left -= count;
            }
        }
    }
}
