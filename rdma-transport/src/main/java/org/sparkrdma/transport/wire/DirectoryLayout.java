/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.transport.api.PeerEndpoint.Token;

/**
 * The directory region of an executor: header, slab table, and the first segment of the hash table of
 * {@link DirectoryEntryLayout entries}. Little-endian.
 *
 * <pre>
 *   0                      4 KiB                  260 KiB                 516 KiB
 *   +----------------------+----------------------+-----------------------+
 *   | header               | slab table           | segment 0             |
 *   |                      | 4096 x 64 B          | 512 buckets x 8 x 64 B|
 *   +----------------------+----------------------+-----------------------+
 *
 *   header
 *   0        8        12       16       24       32       36
 *   +--------+--------+--------+--------+--------+--------+------------------------------+
 *   | magic  |version | state  | token high, low | count  | segments: 16 x (see below)   |
 *   +--------+--------+--------+--------+--------+--------+------------------------------+
 *                                                40       each 24 B: slab, buckets, offset(8), reserved, crc32c
 * </pre>
 *
 * The table grows by segments, each twice as large as the one before, anywhere in the slabs: entries never move, and a
 * reader looks into one bucket of each segment. An entry lies in any of its bucket's slots, so that a slot can be freed
 * without a trace.
 */
public final class DirectoryLayout {
    /** Version of this layout and of all that hangs below it: entries, slab table, partition index. */
    public static final int VERSION = 1;
    /** Where the slab table starts. */
    public static final int SLAB_TABLE_OFFSET = 4096;
    /** Where the first segment starts. */
    public static final int FIRST_SEGMENT_OFFSET = SLAB_TABLE_OFFSET + SlabTableLayout.CAPACITY * SlabTableLayout.BYTES;
    /** Buckets of the first segment. */
    public static final int FIRST_SEGMENT_BUCKETS = 512;
    /** Entries of a bucket. */
    public static final int BUCKET_ENTRIES = 8;
    /** Bytes of a bucket, the unit of a lookup. */
    public static final int BUCKET_BYTES = BUCKET_ENTRIES * DirectoryEntryLayout.BYTES;
    /** Bytes of the directory region. */
    public static final int REGION_BYTES = FIRST_SEGMENT_OFFSET + FIRST_SEGMENT_BUCKETS * BUCKET_BYTES;
    /** Most segments: enough for 2^25 entries. */
    public static final int MAX_SEGMENTS = 16;
    /** Slab id of the directory region itself. */
    public static final int DIRECTORY_SLAB = 0;

    /** Bytes of the header's part that is read and written. */
    public static final int HEADER_BYTES = 40 + MAX_SEGMENTS * 24;

    private static final long MAGIC = 0x5249_4441_4D44_5253L;
    private static final int OPEN = 1;
    private static final int CLOSED = 2;
    private static final int MAGIC_AT = 0;
    private static final int VERSION_AT = 8;
    private static final int STATE_AT = 12;
    private static final int TOKEN_HIGH_AT = 16;
    private static final int TOKEN_LOW_AT = 24;
    private static final int SEGMENT_COUNT_AT = 32;
    private static final int SEGMENTS_AT = 40;
    private static final int SEGMENT_BYTES = 24;
    private static final int SEGMENT_CRC = 20;

    private DirectoryLayout() {}

    /**
     * A segment of the hash table.
     *
     * @param slabId slab that holds it
     * @param offset first byte in the slab
     * @param buckets number of buckets, a power of two
     */
    public record Segment(int slabId, long offset, int buckets) {
        /** Offset in the slab of the bucket where an entry of this key lies if this segment has it. */
        public long bucketOffset(int shuffleId, long mapId) {
            return offset + (long) (hash(shuffleId, mapId) & (buckets - 1)) * BUCKET_BYTES;
        }

        private boolean isPossible() {
            return slabId >= 0
                    && slabId < SlabTableLayout.CAPACITY
                    && Integer.bitCount(buckets) == 1
                    && buckets > 0
                    && offset >= 0
                    && offset % DirectoryEntryLayout.BYTES == 0
                    && offset <= Integer.MAX_VALUE;
        }

        private static int hash(int shuffleId, long mapId) {
            long mixed = (mapId ^ ((long) shuffleId << 40)) * 0x9E37_79B9_7F4A_7C15L;
            return (int) (mixed >>> 32);
        }
    }

    /** Writes the header of an empty directory whose first segment follows the slab table. */
    public static void initialize(ByteBuffer region, Token token) {
        ByteBuffer header = little(region);
        header.putLong(MAGIC_AT, MAGIC);
        header.putInt(VERSION_AT, VERSION);
        header.putLong(TOKEN_HIGH_AT, token.high());
        header.putLong(TOKEN_LOW_AT, token.low());
        addSegment(region, new Segment(DIRECTORY_SLAB, FIRST_SEGMENT_OFFSET, FIRST_SEGMENT_BUCKETS));
        SharedInts.setRelease(region, STATE_AT, OPEN);
    }

    /** Says to every reader that this executor's memory is going away. */
    public static void close(ByteBuffer region) {
        SharedInts.setRelease(region, STATE_AT, CLOSED);
    }

    /** Whether the owner has not closed its directory. */
    public static boolean isOpen(ByteBuffer region) {
        return SharedInts.getAcquire(region, STATE_AT) == OPEN;
    }

    /**
     * Why a region is not the directory that a peer promised; empty if it is.
     *
     * @param token the token of the peer's endpoint
     */
    public static String refusal(ByteBuffer region, Token token) {
        ByteBuffer header = little(region);
        if (header.getLong(MAGIC_AT) != MAGIC) {
            return "what was found is not a directory of this plugin";
        }
        if (header.getInt(VERSION_AT) != VERSION) {
            return "its directory has version " + header.getInt(VERSION_AT) + ", this process reads version " + VERSION;
        }
        if (header.getLong(TOKEN_HIGH_AT) != token.high() || header.getLong(TOKEN_LOW_AT) != token.low()) {
            return "its directory carries another token: it belongs to another process";
        }
        return isOpen(region) ? "" : "it has closed its directory";
    }

    /** Adds a segment, which must be zeroed before. */
    public static void addSegment(ByteBuffer region, Segment segment) {
        int count = SharedInts.getAcquire(region, SEGMENT_COUNT_AT);
        if (count == MAX_SEGMENTS) {
            throw new IllegalStateException("the directory has all its " + MAX_SEGMENTS + " segments");
        }
        ByteBuffer image = ByteBuffer.allocate(SEGMENT_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        image.putInt(0, segment.slabId());
        image.putInt(4, segment.buckets());
        image.putLong(8, segment.offset());
        image.putInt(SEGMENT_CRC, Crc32c.of(image, 0, SEGMENT_CRC));
        region.put(SEGMENTS_AT + count * SEGMENT_BYTES, image, 0, SEGMENT_BYTES);
        SharedInts.setRelease(region, SEGMENT_COUNT_AT, count + 1);
    }

    /**
     * The segments, oldest and smallest first.
     *
     * @throws TornReadException if the header does not match its checks, or holds what no directory can
     */
    public static List<Segment> segments(ByteBuffer header) throws TornReadException {
        int count = SharedInts.getAcquire(header, SEGMENT_COUNT_AT);
        if (count < 0 || count > MAX_SEGMENTS) {
            throw new TornReadException("a directory header counts " + count + " segments, at most " + MAX_SEGMENTS);
        }
        List<Segment> segments = new ArrayList<>(count);
        ByteBuffer image = ByteBuffer.allocate(SEGMENT_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            image.put(0, header, SEGMENTS_AT + i * SEGMENT_BYTES, SEGMENT_BYTES);
            if (image.getInt(SEGMENT_CRC) != Crc32c.of(image, 0, SEGMENT_CRC)) {
                throw new TornReadException("segment " + i + " of a directory header does not match its check");
            }
            Segment segment = new Segment(image.getInt(0), image.getLong(8), image.getInt(4));
            if (!segment.isPossible()) {
                throw new TornReadException("segment " + i + " of a directory header is not possible: " + segment);
            }
            segments.add(segment);
        }
        return segments;
    }

    private static ByteBuffer little(ByteBuffer region) {
        return region.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    }
}
