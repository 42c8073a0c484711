/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.sparkrdma.transport.api.PeerEndpoint.Token;
import org.sparkrdma.transport.wire.DirectoryEntryLayout.Entry;
import org.sparkrdma.transport.wire.DirectoryLayout.Segment;
import org.sparkrdma.transport.wire.SlabTableLayout.SlabEntry;

class DirectoryLayoutTest {
    private static final Token TOKEN = new Token(1, 2);
    private static final Segment FIRST = new Segment(
            DirectoryLayout.DIRECTORY_SLAB,
            DirectoryLayout.FIRST_SEGMENT_OFFSET,
            DirectoryLayout.FIRST_SEGMENT_BUCKETS);
    private static final Entry ENTRY = new Entry(3, 1L << 40, -7, 200, 9, 8192, 5000, 1L << 33, true);
    private static final SlabEntry SLAB = new SlabEntry(4095, true, 57, 1 << 26, 3, 11);

    private final ByteBuffer region = ByteBuffer.allocateDirect(DirectoryLayout.REGION_BYTES);

    @Test
    void aFreshDirectoryIsOpenAndEmpty() throws TornReadException {
        DirectoryLayout.initialize(region, TOKEN);
        assertTrue(DirectoryLayout.isOpen(region));
        assertEquals("", DirectoryLayout.refusal(region, TOKEN));
        assertEquals(List.of(FIRST), DirectoryLayout.segments(region));
        assertEquals(Optional.empty(), SlabTableLayout.read(region, 1));
        DirectoryLayout.close(region);
        assertFalse(DirectoryLayout.isOpen(region));
        assertEquals("it has closed its directory", DirectoryLayout.refusal(region, TOKEN));
    }

    @Test
    void whatIsNotThePeersDirectoryIsRefused() {
        assertNotEquals("", DirectoryLayout.refusal(region, TOKEN), "zeros");
        DirectoryLayout.initialize(region, TOKEN);
        for (Token other : List.of(new Token(1, 3), new Token(3, 2), new Token(2, 1))) {
            assertTrue(DirectoryLayout.refusal(region, other).contains("another token"));
        }
        region.order(ByteOrder.LITTLE_ENDIAN).putInt(8, 2);
        assertTrue(DirectoryLayout.refusal(region, TOKEN).contains("version 2"));
    }

    @Test
    void anyByteOfTheHeadThatChangesIsRefusedOrWasNotUsed() {
        DirectoryLayout.initialize(region, TOKEN);
        DirectoryLayout.addSegment(region, new Segment(5, 1 << 20, 1024));
        for (int at = 0; at < 32; at++) {
            for (int change = 1; change < 256; change++) {
                region.put(at, (byte) (region.get(at) ^ change));
                assertNotEquals("", DirectoryLayout.refusal(region, TOKEN), "byte " + at);
                region.put(at, (byte) (region.get(at) ^ change));
            }
        }
        assertEquals("", DirectoryLayout.refusal(region, TOKEN));
    }

    @Test
    void anyByteOfASegmentThatChangesIsNoticed() throws TornReadException {
        DirectoryLayout.initialize(region, TOKEN);
        List<Segment> segments = List.of(FIRST, new Segment(5, 1 << 20, 1024));
        DirectoryLayout.addSegment(region, segments.get(1));
        assertEquals(segments, DirectoryLayout.segments(region));
        for (int at = 40; at < 40 + 48; at++) {
            for (int change = 1; change < 256; change++) {
                region.put(at, (byte) (region.get(at) ^ change));
                assertThrows(TornReadException.class, () -> DirectoryLayout.segments(region), "byte " + at);
                region.put(at, (byte) (region.get(at) ^ change));
            }
        }
        region.order(ByteOrder.LITTLE_ENDIAN);
        for (int count : new int[] {3, 17, -1, Integer.MAX_VALUE}) {
            region.putInt(32, count);
            assertThrows(TornReadException.class, () -> DirectoryLayout.segments(region));
        }
    }

    @Test
    void segmentsThatLeadNowhereAreRefusedThoughTheirCheckIsRight() {
        List<Segment> wild = List.of(
                new Segment(-1, 0, 1),
                new Segment(SlabTableLayout.CAPACITY, 0, 1),
                new Segment(1, -64, 1),
                new Segment(1, 1, 1),
                new Segment(1, 1L << 40, 1),
                new Segment(1, 0, 0),
                new Segment(1, 0, 3),
                new Segment(1, 0, -1),
                new Segment(1, 0, Integer.MIN_VALUE));
        for (Segment segment : wild) {
            ByteBuffer fresh = ByteBuffer.allocate(DirectoryLayout.REGION_BYTES);
            DirectoryLayout.initialize(fresh, TOKEN);
            DirectoryLayout.addSegment(fresh, segment);
            assertThrows(TornReadException.class, () -> DirectoryLayout.segments(fresh), segment.toString());
        }
    }

    @Test
    void thereIsRoomForSixteenSegments() throws TornReadException {
        DirectoryLayout.initialize(region, TOKEN);
        for (int i = 1; i < DirectoryLayout.MAX_SEGMENTS; i++) {
            DirectoryLayout.addSegment(region, new Segment(i, 0, 512 << i));
        }
        assertEquals(
                DirectoryLayout.MAX_SEGMENTS, DirectoryLayout.segments(region).size());
        assertThrows(IllegalStateException.class, () -> DirectoryLayout.addSegment(region, FIRST));
        assertTrue(DirectoryLayout.HEADER_BYTES <= DirectoryLayout.SLAB_TABLE_OFFSET);
    }

    @Test
    void keysSpreadOverTheBuckets() {
        int[] filled = new int[DirectoryLayout.FIRST_SEGMENT_BUCKETS];
        long stride = 5;
        for (long map = 0; map < 2048; map++) {
            long offset = FIRST.bucketOffset(1, map * stride);
            assertEquals(0, (offset - FIRST.offset()) % DirectoryLayout.BUCKET_BYTES);
            filled[(int) ((offset - FIRST.offset()) / DirectoryLayout.BUCKET_BYTES)]++;
        }
        for (int bucket : filled) {
            assertTrue(bucket <= DirectoryLayout.BUCKET_ENTRIES, "half full, and a bucket of " + bucket);
        }
        long farthest = new Segment(1, 0, 1 << 24).bucketOffset(-1, Long.MAX_VALUE);
        assertTrue(farthest >= 0 && farthest < (1L << 24) * DirectoryLayout.BUCKET_BYTES);
    }

    @Test
    void anEntryIsThereBetweenWriteAndClear() throws TornReadException {
        assertEquals(Optional.empty(), DirectoryEntryLayout.read(region, 128));
        assertTrue(DirectoryEntryLayout.isFree(region, 128));
        DirectoryEntryLayout.write(region, 128, ENTRY);
        assertFalse(DirectoryEntryLayout.isFree(region, 128));
        assertEquals(Optional.of(ENTRY), DirectoryEntryLayout.read(region, 128));
        assertEquals(Optional.of(ENTRY), DirectoryEntryLayout.read(region.asReadOnlyBuffer(), 128));
        assertEquals(Optional.empty(), DirectoryEntryLayout.read(region, 192));
        DirectoryEntryLayout.clear(region, 128);
        assertEquals(Optional.empty(), DirectoryEntryLayout.read(region, 128));
    }

    @Test
    void anyByteOfAnEntryThatChangesIsNoticedOrFreesIt() throws TornReadException {
        for (int at = 0; at < DirectoryEntryLayout.BYTES; at++) {
            for (int change = 1; change < 256; change++) {
                DirectoryEntryLayout.write(region, 0, ENTRY);
                region.put(at, (byte) (region.get(at) ^ change));
                if (at == 0 && change == 1) {
                    assertEquals(Optional.empty(), DirectoryEntryLayout.read(region, 0), "the state of a free slot");
                } else {
                    assertThrows(TornReadException.class, () -> DirectoryEntryLayout.read(region, 0), "byte " + at);
                }
            }
        }
    }

    @Test
    void entriesThatLeadNowhereAreRefusedThoughTheirCheckIsRight() {
        for (Entry wild : List.of(
                new Entry(1, 1, 1, -1, 1, 1, 1, 1, false),
                new Entry(1, 1, 1, 1, -1, 1, 1, 1, false),
                new Entry(1, 1, 1, 1, 1, -1, 1, 1, false),
                new Entry(1, 1, 1, 1, 1, 1, -1, 1, false))) {
            DirectoryEntryLayout.write(region, 0, wild);
            assertThrows(TornReadException.class, () -> DirectoryEntryLayout.read(region, 0));
        }
    }

    @Test
    void aSlabIsThereBetweenWriteAndClear() throws TornReadException {
        SlabTableLayout.write(region, SLAB);
        assertEquals(Optional.of(SLAB), SlabTableLayout.read(region, SLAB.slabId()));
        assertTrue(SlabTableLayout.isCurrent(region, SLAB));
        SlabTableLayout.clear(region, SLAB.slabId());
        assertEquals(Optional.empty(), SlabTableLayout.read(region, SLAB.slabId()));
        assertFalse(SlabTableLayout.isCurrent(region, SLAB));
        SlabTableLayout.write(region, new SlabEntry(SLAB.slabId(), true, 57, 1 << 26, 4, 12));
        assertFalse(SlabTableLayout.isCurrent(region, SLAB), "another slab has its id");
        for (int id : new int[] {-1, SlabTableLayout.CAPACITY, Integer.MAX_VALUE}) {
            assertThrows(IllegalArgumentException.class, () -> SlabTableLayout.read(region, id));
        }
    }

    @Test
    void anyByteOfASlabsEntryThatChangesIsNoticedOrFreesIt() throws TornReadException {
        int from = SlabTableLayout.offsetOf(SLAB.slabId());
        for (int at = 0; at < SlabTableLayout.BYTES; at++) {
            for (int change = 1; change < 256; change++) {
                SlabTableLayout.write(region, SLAB);
                region.put(from + at, (byte) (region.get(from + at) ^ change));
                if (at == 0 && change == 1) {
                    assertEquals(Optional.empty(), SlabTableLayout.read(region, SLAB.slabId()));
                } else {
                    assertThrows(TornReadException.class, () -> SlabTableLayout.read(region, SLAB.slabId()));
                }
            }
        }
    }
}
