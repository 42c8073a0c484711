/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.compat;

import java.util.ArrayList;
import java.util.List;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Java lists and the {@code Seq} that Spark's methods mean: the immutable one on Scala 2.13. */
public final class ScalaLists {
    private ScalaLists() {}

    /** A copy as a Java list. */
    public static <T> List<T> toJava(scala.collection.Seq<T> elements) {
        List<T> list = new ArrayList<>(elements.size());
        for (Iterator<T> rest = elements.iterator(); rest.hasNext(); ) {
            list.add(rest.next());
        }
        return list;
    }

    /** A copy as Spark takes it. */
    public static <T> Seq<T> toScala(List<T> elements) {
        return CollectionConverters.asScala(elements).toSeq();
    }
}
