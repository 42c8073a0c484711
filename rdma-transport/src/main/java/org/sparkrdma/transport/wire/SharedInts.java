/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.wire;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Ordered access to little-endian ints in memory that several processes map; offsets are multiples of four. */
final class SharedInts {
    private static final VarHandle INTS = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private SharedInts() {}

    static int getAcquire(ByteBuffer memory, int at) {
        return (int) INTS.getAcquire(memory, at);
    }

    /** Keeps plain stores that follow behind the stores that came before. */
    static void releaseFence() {
        VarHandle.releaseFence();
    }

    static void setRelease(ByteBuffer memory, int at, int value) {
        INTS.setRelease(memory, at, value);
    }
}
