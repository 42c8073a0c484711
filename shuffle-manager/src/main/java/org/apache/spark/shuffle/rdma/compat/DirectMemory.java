/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.compat;

import java.lang.reflect.Field;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import org.apache.spark.unsafe.Platform;

/** The address of memory outside the heap, for Spark's {@link Platform}, which reads and writes it unchecked. */
public final class DirectMemory {
    private static final long ADDRESS_FIELD = addressField();

    private DirectMemory() {}

    /** Address of a direct buffer's byte 0; the memory is valid as long as the buffer's owner says. */
    public static long address(ByteBuffer buffer) {
        if (!buffer.isDirect()) {
            throw new IllegalArgumentException("not memory outside the heap: " + buffer);
        }
        return Platform.getLong(buffer, ADDRESS_FIELD);
    }

    private static long addressField() {
        try {
            Class<?> unsafeClass = Class.forName("sun.misc.Unsafe");
            Field instance = unsafeClass.getDeclaredField("theUnsafe");
            instance.setAccessible(true);
            return (long) unsafeClass
                    .getMethod("objectFieldOffset", Field.class)
                    .invoke(instance.get(null), Buffer.class.getDeclaredField("address"));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
