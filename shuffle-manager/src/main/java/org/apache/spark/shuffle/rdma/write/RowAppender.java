/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.write;

import java.io.IOException;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.shuffle.rdma.compat.RowChecksums;
import org.apache.spark.shuffle.rdma.compat.RowSerializers;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;
import scala.Product2;
import scala.collection.Iterator;

/**
 * Appends SQL's rows straight from their memory, byte for byte what Spark's own serializer writes: the row's size as a
 * big-endian int, then its bytes. The key is the partition and is not written.
 */
final class RowAppender<K, V> implements RecordAppender<K, V> {
    private static final int SIZE_BYTES = 4;
    /** Rows up to this size are copied word by word: cheaper than a call. */
    private static final int WORDWISE_BYTES = 128;

    private final Serializer serializer;
    private final RowChecksums checksums;

    RowAppender(ShuffleDependency<K, V, ?> dependency, RowChecksums checksums) {
        this.serializer = dependency.serializer();
        this.checksums = checksums;
    }

    @Override
    public long appendAll(Iterator<Product2<K, V>> records, RecordSink sink) throws IOException {
        boolean isChecking = checksums.isWanted();
        long count = 0;
        long rowBytes = 0;
        while (records.hasNext()) {
            Product2<K, V> record = records.next();
            int partition = record._1$mcI$sp();
            UnsafeRow row = (UnsafeRow) record._2();
            int size = row.getSizeInBytes();
            long at = sink.reserve(partition, SIZE_BYTES + size);
            Object to = sink.base();
            Platform.putInt(to, at, Integer.reverseBytes(size));
            copy(row.getBaseObject(), row.getBaseOffset(), to, at + SIZE_BYTES, size);
            sink.written(partition, SIZE_BYTES + size);
            if (isChecking) {
                checksums.update(partition, partition, row);
            }
            count++;
            rowBytes += size;
        }
        long allBytes = rowBytes;
        RowSerializers.dataSize(serializer).ifPresent(metric -> metric.add(allBytes));
        return count;
    }

    /** Rows are whole words. */
    static void copy(Object base, long offset, Object to, long at, int size) {
        if (size > WORDWISE_BYTES) {
            Platform.copyMemory(base, offset, to, at, size);
        } else {
            for (int i = 0; i < size; i += Long.BYTES) {
                Platform.putLong(to, at + i, Platform.getLong(base, offset + i));
            }
        }
    }
}
