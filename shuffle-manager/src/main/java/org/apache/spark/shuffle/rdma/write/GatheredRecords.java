/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.write;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.memory.MemoryConsumer;
import org.apache.spark.memory.TaskMemoryManager;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.memory.MemoryBlock;

/**
 * Records of a map output with many partitions, gathered in task memory in the order in which they come, and laid out
 * partition by partition when there are no more or when Spark's memory manager wants the memory back. So a partition
 * takes as many bytes in the slabs as it has, where a chunk of its own would stay mostly empty.
 *
 * <pre>
 *   page    | p7 size record | p2 size record | p7 size record | ...
 *   layOut            |                                \
 *   extents | p0 | p1 | p2 | ...                   | p7 p7 | ...
 * </pre>
 *
 * <p>Threading: one map task. Another consumer of the same task may ask for memory in between, on the task's thread;
 * what asks on another thread is refused, as it could come in the middle of a record.
 */
final class GatheredRecords extends MemoryConsumer implements RecordSink {
    /** In front of each record: its partition, then its size. */
    private static final int HEADER_BYTES = 2 * Integer.BYTES;

    private static final int WORDWISE_BYTES = 128;

    private final PartitionChunks chunks;
    private final TaskMetrics metrics;
    private final Thread owner = Thread.currentThread();
    private final List<MemoryBlock> pages = new ArrayList<>();
    /** Bytes used of each page but the last. */
    private final List<Long> filled = new ArrayList<>();
    /** Bytes of each partition that are not laid out yet. */
    private final long[] gathered;

    private Object base;
    private long pageStart;
    private long cursor;
    private long limit;
    private long peak;
    /** Some records are laid out and others not, because the slabs had no room: nothing can be made of the rest. */
    private boolean isTorn;

    /**
     * @param memory the task's
     * @param partitions number of reduce partitions
     * @param chunks where records are laid out
     * @param metrics told of spills
     */
    GatheredRecords(TaskMemoryManager memory, int partitions, PartitionChunks chunks, TaskMetrics metrics) {
        super(memory, memory.pageSizeBytes(), memory.getTungstenMemoryMode());
        this.chunks = chunks;
        this.metrics = metrics;
        this.gathered = new long[partitions];
    }

    @Override
    public long reserve(int partition, int bytes) throws IOException {
        long needed = (long) HEADER_BYTES + bytes;
        if (limit - cursor < needed) {
            nextPage(needed);
        }
        Platform.putInt(base, cursor, partition);
        Platform.putInt(base, cursor + Integer.BYTES, bytes);
        return cursor + HEADER_BYTES;
    }

    @Override
    public Object base() {
        return base;
    }

    @Override
    public void written(int partition, int bytes) {
        gathered[partition] += bytes;
        cursor += (long) HEADER_BYTES + bytes;
    }

    /**
     * Moves all records to the slabs and gives the task memory back.
     *
     * @throws IOException if there is no room for them, now or when Spark wanted the memory back
     */
    void layOut() throws IOException {
        checkWhole();
        if (!pages.isEmpty()) {
            isTorn = true;
            filled.add(cursor - pageStart);
            chunks.expect(gathered);
            for (int page = 0; page < pages.size(); page++) {
                layOut(pages.get(page), filled.get(page));
            }
            Arrays.fill(gathered, 0);
            isTorn = false;
        }
        free();
    }

    /** Gives the task memory back with what is in it; doing so twice does nothing. */
    void free() {
        pages.forEach(this::freePage);
        pages.clear();
        filled.clear();
        base = null;
        pageStart = 0;
        cursor = 0;
        limit = 0;
    }

    /** Most task memory that the records ever took, bytes. */
    long peak() {
        return peak;
    }

    /** Called by Spark when memory is short: its own call for a page among them. */
    @Override
    public long spill(long wanted, MemoryConsumer trigger) throws IOException {
        if (pages.isEmpty() || Thread.currentThread() != owner) {
            return 0;
        }
        long before = getUsed();
        layOut();
        long given = before - getUsed();
        metrics.incMemoryBytesSpilled(given);
        return given;
    }

    /** Whoever asked Spark for memory may have caught the error and gone on. */
    private void checkWhole() throws IOException {
        if (isTorn) {
            throw new IOException("the records of this map output could not be moved out of task memory before");
        }
    }

    private void nextPage(long atLeast) throws IOException {
        checkWhole();
        // Spark may call for a spill in here, which leaves no page but the new one.
        MemoryBlock page = allocatePage(atLeast);
        if (!pages.isEmpty()) {
            filled.add(cursor - pageStart);
        }
        pages.add(page);
        base = page.getBaseObject();
        pageStart = page.getBaseOffset();
        cursor = pageStart;
        limit = pageStart + page.size();
        peak = Math.max(peak, getUsed());
    }

    private void layOut(MemoryBlock page, long usedBytes) throws IOException {
        Object from = page.getBaseObject();
        long at = page.getBaseOffset();
        long end = at + usedBytes;
        while (at < end) {
            int partition = Platform.getInt(from, at);
            int bytes = Platform.getInt(from, at + Integer.BYTES);
            copy(from, at + HEADER_BYTES, chunks.reserve(partition, bytes), bytes);
            chunks.written(partition, bytes);
            at += (long) HEADER_BYTES + bytes;
        }
    }

    /**
     * Small records are copied word by word, the last word overlapping the one before: cheaper than a call. Not shared
     * with {@link RowAppender}, whose rows are whole words: that costs it a twentieth and more.
     */
    private static void copy(Object from, long offset, long to, int bytes) {
        if (bytes > WORDWISE_BYTES || bytes < Long.BYTES) {
            Platform.copyMemory(from, offset, null, to, bytes);
            return;
        }
        int last = bytes - Long.BYTES;
        for (int i = 0; i < last; i += Long.BYTES) {
            Platform.putLong(null, to + i, Platform.getLong(from, offset + i));
        }
        Platform.putLong(null, to + last, Platform.getLong(from, offset + last));
    }
}
