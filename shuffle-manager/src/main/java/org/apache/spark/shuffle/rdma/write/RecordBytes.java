/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.write;

import org.apache.spark.unsafe.Platform;

/** Copies the bytes of a record. */
final class RecordBytes {
    private static final int WORDWISE_BYTES = 128;

    private RecordBytes() {}

    /** Small records are copied word by word, the last word overlapping the one before: cheaper than a call. */
    static void copy(Object from, long offset, Object to, long at, int bytes) {
        if (bytes > WORDWISE_BYTES || bytes < Long.BYTES) {
            Platform.copyMemory(from, offset, to, at, bytes);
            return;
        }
        int last = bytes - Long.BYTES;
        for (int i = 0; i < last; i += Long.BYTES) {
            Platform.putLong(to, at + i, Platform.getLong(from, offset + i));
        }
        Platform.putLong(to, at + last, Platform.getLong(from, offset + last));
    }
}
