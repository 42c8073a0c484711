/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.write;

import java.io.IOException;
import scala.Product2;
import scala.collection.Iterator;

/** Appends a map task's records to their partitions, as the dependency's serializer writes them. */
interface RecordAppender<K, V> {
    /** Appends all records; answers how many they were. */
    long appendAll(Iterator<Product2<K, V>> records, RecordSink sink) throws IOException;
}
