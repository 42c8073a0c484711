/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.read;

import java.util.List;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import scala.Product2;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;

/** Spark's own reader over our block client, for the blocks that are not read where they lie. */
@FunctionalInterface
public interface SparkReader<K, C> {
    /** Starts to fetch blocks, and answers their records. */
    Iterator<Product2<K, C>> read(List<Tuple2<BlockManagerId, List<Tuple3<BlockId, Object, Object>>>> blocks);
}
