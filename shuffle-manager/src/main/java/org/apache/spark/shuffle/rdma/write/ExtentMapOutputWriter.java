/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.write;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.WritableByteChannel;
import java.util.Optional;
import java.util.zip.CRC32C;
import org.apache.spark.shuffle.api.ShuffleMapOutputWriter;
import org.apache.spark.shuffle.api.ShufflePartitionWriter;
import org.apache.spark.shuffle.api.WritableByteChannelWrapper;
import org.apache.spark.shuffle.api.metadata.MapOutputCommitMessage;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog.MapOutputId;
import org.sparkrdma.transport.memory.ExtentChain;
import org.sparkrdma.transport.memory.SlabPool;

/**
 * Where Spark's own writers leave a map output: partition after partition into one chain of extents, each with its
 * checksum. What was appended never moves.
 *
 * <p>Threading: one map task.
 */
public final class ExtentMapOutputWriter implements ShuffleMapOutputWriter {
    private final MapOutputId id;
    private final boolean isRaw;
    private final MapOutputCatalog catalog;
    private final SlabPool pool;
    private final ExtentChain data;
    private final long[] lengths;
    private final int[] crcs;
    private final CRC32C crc = new CRC32C();
    private int current = -1;
    private boolean isCommitted;

    /**
     * A writer for one map output.
     *
     * @param isRaw whether the bytes that come are the serializer's own, neither compressed nor encrypted
     */
    public ExtentMapOutputWriter(
            MapOutputId id, int partitions, boolean isRaw, MapOutputCatalog catalog, SlabPool pool) {
        this.isRaw = isRaw;
        this.id = id;
        this.catalog = catalog;
        this.pool = pool;
        this.data = new ExtentChain(pool);
        this.lengths = new long[partitions];
        this.crcs = new int[partitions];
    }

    @Override
    public ShufflePartitionWriter getPartitionWriter(int partition) {
        if (partition >= lengths.length) {
            throw new IllegalArgumentException(
                    "partition " + partition + " was asked for of a map output of " + lengths.length);
        }
        if (partition <= current) {
            throw new IllegalArgumentException("partition " + partition + " was asked for after partition " + current
                    + ": partitions are written in increasing order");
        }
        current = partition;
        crc.reset();
        return new PartitionWriter(partition);
    }

    @Override
    public MapOutputCommitMessage commitAllPartitions(long[] sparkChecksums) throws IOException {
        data.seal();
        catalog.publish(id, data, lengths, crcs, isRaw, pool);
        isCommitted = true;
        return MapOutputCommitMessage.of(lengths);
    }

    @Override
    public void abort(Throwable error) {
        if (isCommitted) {
            catalog.withdraw(id);
        } else {
            data.free();
        }
    }

    /**
     * The task is over: what it did not commit goes back. Spark's sort writer never aborts, and the others do so only
     * for exceptions, not for errors such as a lack of heap.
     */
    public void taskEnded() {
        if (!isCommitted) {
            data.free();
        }
    }

    private void append(int partition, byte[] bytes, int offset, int count) throws IOException {
        requireCurrent(partition);
        data.append(bytes, offset, count);
        crc.update(bytes, offset, count);
        close(partition, count);
    }

    private int append(int partition, ByteBuffer bytes) throws IOException {
        requireCurrent(partition);
        int count = bytes.remaining();
        crc.update(bytes.duplicate());
        data.append(bytes);
        close(partition, count);
        return count;
    }

    private void close(int partition, int added) {
        lengths[partition] += added;
        crcs[partition] = (int) crc.getValue();
    }

    private void requireCurrent(int partition) throws IOException {
        if (partition != current) {
            throw new IOException(
                    "partition " + partition + " was written to after partition " + current + " had been opened");
        }
    }

    private final class PartitionWriter implements ShufflePartitionWriter {
        private final int partition;

        PartitionWriter(int partition) {
            this.partition = partition;
        }

        @Override
        public OutputStream openStream() {
            return new PartitionStream(partition);
        }

        @Override
        public Optional<WritableByteChannelWrapper> openChannelWrapper() {
            return Optional.of(new PartitionChannel(partition));
        }

        @Override
        public long getNumBytesWritten() {
            return lengths[partition];
        }
    }

    private final class PartitionStream extends OutputStream {
        private final int partition;
        private final byte[] single = new byte[1];
        private boolean isClosed;

        PartitionStream(int partition) {
            this.partition = partition;
        }

        @Override
        public void write(int b) throws IOException {
            single[0] = (byte) b;
            write(single, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int count) throws IOException {
            if (isClosed) {
                throw new IOException("partition " + partition + " was written to after it had been closed");
            }
            append(partition, bytes, offset, count);
        }

        @Override
        public void close() {
            isClosed = true;
        }
    }

    private final class PartitionChannel implements WritableByteChannelWrapper, WritableByteChannel {
        private final int partition;
        private boolean isClosed;

        PartitionChannel(int partition) {
            this.partition = partition;
        }

        @Override
        public WritableByteChannel channel() {
            return this;
        }

        @Override
        public int write(ByteBuffer bytes) throws IOException {
            if (isClosed) {
                throw new ClosedChannelException();
            }
            return append(partition, bytes);
        }

        @Override
        public boolean isOpen() {
            return !isClosed;
        }

        @Override
        public void close() {
            isClosed = true;
        }
    }
}
