/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.compat;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.storage.BlockManager;

/**
 * A block manager that is the given one in everything but the client that fetches remote blocks. Spark's reader takes
 * its client from its block manager and offers no other place to put one; Spark's own object stays untouched.
 */
public final class BlockManagerViews {
    private static final String CLIENT = "blockStoreClient";
    /** Spark reads other executors' files on the same host by itself if this is set: our client does it better. */
    private static final String HOST_LOCAL = "hostLocalDirManager";

    private BlockManagerViews() {}

    /** A view of an initialized block manager with another client. */
    public static BlockManager withClient(BlockManager original, BlockStoreClient client) {
        try {
            Class<?> unsafeClass = Class.forName("sun.misc.Unsafe");
            Field instance = unsafeClass.getDeclaredField("theUnsafe");
            instance.setAccessible(true);
            BlockManager view = (BlockManager) unsafeClass
                    .getMethod("allocateInstance", Class.class)
                    .invoke(instance.get(null), BlockManager.class);
            for (Class<?> type = original.getClass(); type != Object.class; type = type.getSuperclass()) {
                copyFields(type, original, view);
            }
            set(view, CLIENT, client);
            set(view, HOST_LOCAL, scala.Option.empty());
            return view;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(
                    "this Spark's BlockManager is not one that this jar was built for: " + e.getMessage(), e);
        }
    }

    private static void copyFields(Class<?> type, BlockManager from, BlockManager to) throws IllegalAccessException {
        for (Field field : type.getDeclaredFields()) {
            if (!Modifier.isStatic(field.getModifiers())) {
                field.setAccessible(true);
                field.set(to, field.get(from));
            }
        }
    }

    private static void set(BlockManager view, String name, Object value) throws ReflectiveOperationException {
        Field field = BlockManager.class.getDeclaredField(name);
        field.setAccessible(true);
        field.set(view, value);
    }
}
