/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/**
 * The table of an executor's slabs, in its directory region: how a peer finds the memory of a slab id. Little-endian.
 *
 * <pre>
 *   0        4        8        12       16                24                32
 *   +--------+--------+--------+--------+-----------------+-----------------+
 *   | state  | flags  | fd     | rkey   | length          | address         |
 *   +--------+--------+--------+--------+-----------------+-----------------+
 *   | gener. | reserv.| sequence        | reserved                 | crc32c |
 *   +--------+--------+-----------------+--------------------------+--------+
 *   32                40                48                         60       64
 * </pre>
 *
 * The key and address are those of the slab's memory region; they are 0 while no device has it registered. A slab whose
 * file keeps its name has fd -1; its sequence number then tells its name.
 */
public final class SlabTableLayout {
    /** Size of an entry, bytes. */
    public static final int BYTES = 64;
    /** Entries of the table: most slabs of an executor. */
    public static final int CAPACITY = 4096;

    private static final int FREE = 0;
    private static final int LIVE = 1;
    private static final int FLAG_OVERFLOW = 1;

    private static final int FLAGS = 4;
    private static final int FD = 8;
    private static final int RKEY = 12;
    private static final int LENGTH = 16;
    private static final int ADDRESS = 24;
    private static final int GENERATION = 32;
    private static final int SEQUENCE = 40;
    private static final int CRC = 60;

    private SlabTableLayout() {}

    /**
     * A live slab.
     *
     * @param slabId index of the entry
     * @param isOverflow whether the slab lies in a file on local disk
     * @param descriptor descriptor number of the slab's file in its owner; -1 for a named file
     * @param length bytes of the slab
     * @param generation differs between two slabs that had the same id
     * @param sequence number in the name of the slab's file
     */
    public record SlabEntry(
            int slabId, boolean isOverflow, int descriptor, long length, int generation, long sequence) {}

    /** Offset of an entry in the directory region. */
    public static int offsetOf(int slabId) {
        if (slabId < 0 || slabId >= CAPACITY) {
            throw new IllegalArgumentException("slab id " + slabId + " is not within the table of " + CAPACITY);
        }
        return DirectoryLayout.SLAB_TABLE_OFFSET + slabId * BYTES;
    }

    /** Publishes a slab. */
    public static void write(ByteBuffer region, SlabEntry slab) {
        ByteBuffer image = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
        image.putInt(0, LIVE);
        image.putInt(FLAGS, slab.isOverflow() ? FLAG_OVERFLOW : 0);
        image.putInt(FD, slab.descriptor());
        image.putInt(RKEY, 0);
        image.putLong(LENGTH, slab.length());
        image.putLong(ADDRESS, 0);
        image.putInt(GENERATION, slab.generation());
        image.putLong(SEQUENCE, slab.sequence());
        image.putInt(CRC, Crc32c.of(image, 0, CRC));
        int at = offsetOf(slab.slabId());
        SharedInts.releaseFence();
        region.put(at + FLAGS, image, FLAGS, BYTES - FLAGS);
        SharedInts.setRelease(region, at, LIVE);
    }

    /** Withdraws a slab. */
    public static void clear(ByteBuffer region, int slabId) {
        SharedInts.setRelease(region, offsetOf(slabId), FREE);
    }

    /** Whether the slab that was read as this entry is still there; much cheaper than reading it again. */
    public static boolean isCurrent(ByteBuffer region, SlabEntry slab) {
        int at = offsetOf(slab.slabId());
        return SharedInts.getAcquire(region, at) == LIVE
                && SharedInts.getAcquire(region, at + GENERATION) == slab.generation();
    }

    /**
     * Reads a slab's entry.
     *
     * @return the slab, or nothing if there is none of this id
     * @throws TornReadException if the entry does not match its check
     */
    public static Optional<SlabEntry> read(ByteBuffer region, int slabId) throws TornReadException {
        int at = offsetOf(slabId);
        if (SharedInts.getAcquire(region, at) == FREE) {
            return Optional.empty();
        }
        ByteBuffer image = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
        image.put(0, region, at, BYTES);
        if (image.getInt(0) != LIVE || image.getInt(CRC) != Crc32c.of(image, 0, CRC)) {
            throw new TornReadException("slab table entry " + slabId + " does not match its check");
        }
        return Optional.of(new SlabEntry(
                slabId,
                (image.getInt(FLAGS) & FLAG_OVERFLOW) != 0,
                image.getInt(FD),
                image.getLong(LENGTH),
                image.getInt(GENERATION),
                image.getLong(SEQUENCE)));
    }
}
