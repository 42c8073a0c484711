/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.write;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.apache.spark.Partitioner;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.serializer.SerializationStream;
import org.apache.spark.shuffle.rdma.compat.RowChecksums;
import org.apache.spark.unsafe.Platform;
import scala.Product2;
import scala.collection.Iterator;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/** Appends records of any relocatable serializer through one buffer that is used again for each record. */
final class SerializedAppender<K, V> implements RecordAppender<K, V> {
    private static final ClassTag<Object> ANY = ClassTag$.MODULE$.Object();
    private static final int FIRST_BUFFER = 64 << 10;

    private final ShuffleDependency<K, V, ?> dependency;
    private final RowChecksums checksums;

    SerializedAppender(ShuffleDependency<K, V, ?> dependency, RowChecksums checksums) {
        this.dependency = dependency;
        this.checksums = checksums;
    }

    @Override
    public long appendAll(Iterator<Product2<K, V>> records, RecordSink sink) throws IOException {
        Partitioner partitioner = dependency.partitioner();
        ExposedBuffer buffer = new ExposedBuffer();
        SerializationStream stream = dependency.serializer().newInstance().serializeStream(buffer);
        long count = 0;
        while (records.hasNext()) {
            Product2<K, V> record = records.next();
            K key = record._1();
            V value = record._2();
            int partition = partitioner.getPartition(key);
            buffer.reset();
            stream.writeKey((Object) key, ANY);
            stream.writeValue((Object) value, ANY);
            stream.flush();
            int size = buffer.size();
            long at = sink.reserve(partition, size);
            Platform.copyMemory(buffer.bytes(), Platform.BYTE_ARRAY_OFFSET, sink.base(), at, size);
            sink.written(partition, size);
            if (checksums.isWanted()) {
                checksums.update(partition, key, value);
            }
            count++;
        }
        return count;
    }

    private static final class ExposedBuffer extends ByteArrayOutputStream {
        ExposedBuffer() {
            super(FIRST_BUFFER);
        }

        byte[] bytes() {
            return buf;
        }
    }
}
