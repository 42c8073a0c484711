/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.sparkrdma.transport.api.PeerEndpoint.Token;
import org.sparkrdma.transport.wire.DirectoryEntryLayout.Entry;
import org.sparkrdma.transport.wire.DirectoryLayout.Segment;
import org.sparkrdma.transport.wire.SlabTableLayout.SlabEntry;

/** Whoever changes a layout changes its version, and then the bytes here. */
class GoldenBytesTest {
    private static final String CHANGED = "this layout has changed: give it a new version";

    private static final String ENTRY = """
            010000000700000003000000c800000000000000000100000900000088130000
            00200000000000000000000002000000010000000000000000000000b5e8ff34
            """;

    private static final String INDEX = """
            5352444d494e4458010000000100000001000000030000000000000000010000
            0700000000000000000000000000000000000000000000000000000090e32e80
            640000000000c5ac7856341200000000000000000000442c0000000001000000
            000001003588caa70400000064000000
            """;

    private static final String DIRECTORY = """
            5352444d41444952010000000100000008070605040302011817161514131211
            02000000000000000000000000020000001004000000000000000000d264250d
            05000000000400000000100000000000000000009e2beb40
            """;

    private static final String ENDPOINT = """
            315450450100000006657865632d310430643963107069643a5b343032363533
            313833365de72487ad4b390000000080a0200807060504030201feffffffffff
            ffff74bc5480
            """;

    private static final String FRAME = """
            314d52460100030002000000f5c40c5a0500000000000000ffffffff00000000
            00000000020000002a00000000000000
            """;

    private static final String SLAB = """
            0100000001000000390000000000000000000004000000000000000000000000
            03000000000000000b0000000000000000000000000000000000000052f3d86b
            """;

    @Test
    void directoryOfVersion1() {
        assertEquals(1, DirectoryLayout.VERSION);
        ByteBuffer region = ByteBuffer.allocate(DirectoryLayout.REGION_BYTES);
        DirectoryLayout.initialize(region, new Token(0x0102030405060708L, 0x1112131415161718L));
        DirectoryLayout.addSegment(region, new Segment(5, 1 << 20, 1024));
        assertEquals(DIRECTORY, hex(region, 0, 88), CHANGED);
        assertEquals(4096 + 4096 * 64, DirectoryLayout.FIRST_SEGMENT_OFFSET);
        assertEquals(516 * 1024, DirectoryLayout.REGION_BYTES);
    }

    @Test
    void directoryEntryOfVersion1() {
        ByteBuffer table = ByteBuffer.allocate(DirectoryEntryLayout.BYTES);
        DirectoryEntryLayout.write(table, 0, new Entry(3, 1L << 40, 7, 200, 9, 8192, 5000, 1L << 33, true));
        assertEquals(ENTRY, hex(table, 0, 64), CHANGED);
    }

    @Test
    void slabTableEntryOfVersion1() {
        ByteBuffer region = ByteBuffer.allocate(DirectoryLayout.REGION_BYTES);
        SlabTableLayout.write(region, new SlabEntry(2, true, 57, 1 << 26, 3, 11));
        assertEquals(SLAB, hex(region, SlabTableLayout.offsetOf(2), 64), CHANGED);
    }

    @Test
    void partitionIndexOfVersion1() {
        ByteBuffer index = ByteBuffer.allocate((int) PartitionIndexLayout.bytes(1, 1));
        PartitionIndexLayout.writePartition(index, 0, 100, 0x1234_5678, 0);
        PartitionIndexLayout.writePartition(index, 1, 0, 0, 1);
        PartitionIndexLayout.writePiece(index, 1, 0, 4, 65536, 100);
        PartitionIndexLayout.writeHeader(index, 3, 1L << 40, 7, 1, 1);
        assertEquals(INDEX, hex(index, 0, index.capacity()), CHANGED);
    }

    @Test
    void blockFrameOfVersion1() {
        assertEquals(1, BlockFrameLayout.VERSION);
        ByteBuffer header = BlockFrameLayout.encode(new long[] {5, 1L << 33}, new int[] {-1, 42}, true, true);
        assertEquals(FRAME, hex(header, 0, header.capacity()), CHANGED);
    }

    @Test
    void endpointOfVersion1() {
        assertEquals(1, EndpointCodec.VERSION);
        byte[] bytes = EndpointCodec.encode(EndpointCodecTest.ENDPOINT);
        assertEquals(ENDPOINT, hex(ByteBuffer.wrap(bytes), 0, bytes.length), CHANGED);
    }

    @Test
    void theCheckIsCastagnolis() {
        assertEquals(0xE306_9283, Crc32c.of(ByteBuffer.wrap("123456789".getBytes(StandardCharsets.US_ASCII))));
    }

    /** Lines of 32 bytes. */
    private static String hex(ByteBuffer bytes, int from, int count) {
        StringBuilder lines = new StringBuilder();
        for (int at = 0; at < count; at += 32) {
            byte[] line = new byte[Math.min(32, count - at)];
            bytes.get(from + at, line);
            lines.append(HexFormat.of().formatHex(line)).append('\n');
        }
        return lines.toString();
    }
}
