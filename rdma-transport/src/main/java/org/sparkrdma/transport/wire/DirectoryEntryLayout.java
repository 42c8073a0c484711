/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/**
 * One map output's entry in the directory: where its partition index lies. Little-endian, {@value #BYTES} bytes,
 * aligned to its size. An entry carries its own check, so that a reader that races with the writer sees it and repeats.
 * A slot that is freed and used again while it is read gives the old entry, the new one, or a torn read, never a mix;
 * readers compare the key.
 *
 * <pre>
 *   0        4        8        12       16                24       28       32
 *   +--------+--------+--------+--------+-----------------+--------+--------+
 *   | state  | gener. | shuffle| parts  | map id          | slab   | idx len|
 *   +--------+--------+--------+--------+-----------------+--------+--------+
 *   | index offset    | data bytes      | flags  | reserved        | crc32c |
 *   +-----------------+-----------------+--------+-----------------+--------+
 *   32                40                48       52                60       64
 * </pre>
 */
public final class DirectoryEntryLayout {
    /** Size of an entry, bytes. */
    public static final int BYTES = 64;

    private static final int FREE = 0;
    private static final int LIVE = 1;

    private static final int STATE = 0;
    private static final int GENERATION = 4;
    private static final int SHUFFLE_ID = 8;
    private static final int PARTITIONS = 12;
    private static final int MAP_ID = 16;
    private static final int INDEX_SLAB = 24;
    private static final int INDEX_LENGTH = 28;
    private static final int INDEX_OFFSET = 32;
    private static final int DATA_BYTES = 40;
    private static final int FLAGS = 48;
    private static final int CRC = 60;
    private static final int FLAG_RAW = 1;

    private DirectoryEntryLayout() {}

    /**
     * A live entry.
     *
     * @param shuffleId Spark's shuffle id
     * @param mapId Spark's map id: the task attempt id, unique in the application
     * @param generation differs between any two publications of one executor
     * @param partitions number of reduce partitions
     * @param indexSlab slab of the partition index
     * @param indexOffset offset of the partition index in its slab
     * @param indexLength bytes of the partition index
     * @param dataBytes bytes of all partitions
     * @param isRaw whether the bytes are the serializer's own, neither compressed nor encrypted
     */
    public record Entry(
            int shuffleId,
            long mapId,
            int generation,
            int partitions,
            int indexSlab,
            long indexOffset,
            int indexLength,
            long dataBytes,
            boolean isRaw) {}

    /** Writes an entry; the state goes last, and the check makes a torn read visible. */
    public static void write(ByteBuffer table, int at, Entry entry) {
        ByteBuffer image = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
        image.putInt(STATE, LIVE);
        image.putInt(GENERATION, entry.generation());
        image.putInt(SHUFFLE_ID, entry.shuffleId());
        image.putInt(PARTITIONS, entry.partitions());
        image.putLong(MAP_ID, entry.mapId());
        image.putInt(INDEX_SLAB, entry.indexSlab());
        image.putInt(INDEX_LENGTH, entry.indexLength());
        image.putLong(INDEX_OFFSET, entry.indexOffset());
        image.putLong(DATA_BYTES, entry.dataBytes());
        image.putInt(FLAGS, entry.isRaw() ? FLAG_RAW : 0);
        image.putInt(CRC, Crc32c.of(image, 0, CRC));
        // What the entry points to first, then the words after the state: an entry whose state is set is whole, or its
        // check says otherwise.
        SharedInts.releaseFence();
        table.put(at + GENERATION, image, GENERATION, BYTES - GENERATION);
        SharedInts.setRelease(table, at + STATE, LIVE);
    }

    /** Frees a slot: readers that come later see nothing here. */
    public static void clear(ByteBuffer table, int at) {
        SharedInts.setRelease(table, at + STATE, FREE);
    }

    /** Whether no entry is in a slot. */
    public static boolean isFree(ByteBuffer table, int at) {
        return SharedInts.getAcquire(table, at + STATE) == FREE;
    }

    /**
     * Reads a slot.
     *
     * @return the entry, or nothing if the slot is free
     * @throws TornReadException if the entry's check does not hold: it was being written, or it is damaged; or if it
     *     holds what no entry can
     */
    public static Optional<Entry> read(ByteBuffer table, int at) throws TornReadException {
        if (isFree(table, at)) {
            return Optional.empty();
        }
        ByteBuffer image = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
        image.put(0, table, at, BYTES);
        if (image.getInt(STATE) != LIVE || image.getInt(CRC) != Crc32c.of(image, 0, CRC)) {
            throw new TornReadException("directory entry at " + at + " does not match its check");
        }
        Entry entry = new Entry(
                image.getInt(SHUFFLE_ID),
                image.getLong(MAP_ID),
                image.getInt(GENERATION),
                image.getInt(PARTITIONS),
                image.getInt(INDEX_SLAB),
                image.getLong(INDEX_OFFSET),
                image.getInt(INDEX_LENGTH),
                image.getLong(DATA_BYTES),
                (image.getInt(FLAGS) & FLAG_RAW) != 0);
        if (entry.partitions() < 0 || entry.indexSlab() < 0 || entry.indexOffset() < 0 || entry.indexLength() < 0) {
            throw new TornReadException("directory entry at " + at + " is not possible: " + entry);
        }
        return Optional.of(entry);
    }
}
