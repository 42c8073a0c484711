/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.compat;

import java.lang.reflect.Field;
import java.util.Optional;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.sql.execution.metric.SQLMetric;

/** Recognizes the serializer of SQL's rows, and reads what it keeps to itself. */
public final class RowSerializers {
    private static final String NAME = "org.apache.spark.sql.execution.UnsafeRowSerializer";

    private RowSerializers() {}

    /** Whether a serializer is that of SQL's rows. */
    public static boolean isForRows(Serializer serializer) {
        return serializer.getClass().getName().equals(NAME);
    }

    /** Number of fields of the rows. */
    public static int numFields(Serializer serializer) {
        return (Integer) field(serializer, "numFields");
    }

    /** The metric that counts the rows' bytes, which adaptive execution plans by; nothing if nobody asked for it. */
    public static Optional<SQLMetric> dataSize(Serializer serializer) {
        return Optional.ofNullable((SQLMetric) field(serializer, "dataSize"));
    }

    private static Object field(Serializer serializer, String name) {
        try {
            Field field = serializer.getClass().getDeclaredField(name);
            field.setAccessible(true);
            return field.get(serializer);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(
                    "this Spark's " + NAME + " is not one that this jar was built for: " + e.getMessage(), e);
        }
    }
}
