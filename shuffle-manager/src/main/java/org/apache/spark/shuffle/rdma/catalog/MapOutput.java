/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.catalog;

import java.util.concurrent.atomic.AtomicInteger;
import org.sparkrdma.transport.memory.Extent;
import org.sparkrdma.transport.memory.SlabPool;
import org.sparkrdma.transport.wire.DirectoryEntryLayout.Entry;

/**
 * One committed map output of this executor: its data, its partition index, and the count of those who read it. The
 * extents go back to the pool when it was withdrawn and the last local reader has let go of it.
 */
public final class MapOutput {
    private final Entry entry;
    private final Runnable givingBackData;
    private final Extent index;
    private final SlabPool pool;
    /** One for the catalog and one for each reader; freed at 0, never raised from 0. */
    private final AtomicInteger users = new AtomicInteger(1);

    MapOutput(Entry entry, Runnable givingBackData, Extent index, SlabPool pool) {
        this.entry = entry;
        this.givingBackData = givingBackData;
        this.index = index;
        this.pool = pool;
    }

    /** What the directory says of it. */
    public Entry entry() {
        return entry;
    }

    /** Bytes of all partitions. */
    public long dataBytes() {
        return entry.dataBytes();
    }

    boolean retain() {
        int now = users.get();
        while (now > 0) {
            if (users.compareAndSet(now, now + 1)) {
                return true;
            }
            now = users.get();
        }
        return false;
    }

    /** Ends one use. */
    public void release() {
        if (users.decrementAndGet() == 0) {
            givingBackData.run();
            pool.free(index);
        }
    }
}
