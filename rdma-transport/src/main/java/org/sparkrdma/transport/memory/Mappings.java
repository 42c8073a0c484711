/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;

/** Ends mappings of files at a given moment instead of when the collector looks. */
public final class Mappings {
    /** {@code Unsafe.invokeCleaner}, bound, since the JDK offers no other way before Java 22. */
    private static final MethodHandle UNMAP = unmapper();

    private Mappings() {}

    /** Unmaps a buffer that nobody will touch again, nor its slices: doing so would end the process. */
    public static void unmap(MappedByteBuffer memory) {
        try {
            UNMAP.invokeExact((ByteBuffer) memory);
        } catch (Throwable e) {
            throw new IllegalStateException("a file of " + memory.capacity() + " bytes could not be unmapped", e);
        }
    }

    private static MethodHandle unmapper() {
        try {
            Class<?> unsafe = Class.forName("sun.misc.Unsafe");
            Field instance = unsafe.getDeclaredField("theUnsafe");
            instance.setAccessible(true);
            return MethodHandles.lookup()
                    .findVirtual(unsafe, "invokeCleaner", MethodType.methodType(void.class, ByteBuffer.class))
                    .bindTo(instance.get(null));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
