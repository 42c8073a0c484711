/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.sparkrdma.transport.api.HostIdentity;
import org.sparkrdma.transport.api.PeerEndpoint;
import org.sparkrdma.transport.api.PeerEndpoint.SharedFile;
import org.sparkrdma.transport.api.PeerEndpoint.Token;
import org.sparkrdma.transport.api.ProcessIdentity;

class EndpointCodecTest {
    static final PeerEndpoint ENDPOINT = new PeerEndpoint(
            "exec-1",
            new HostIdentity("0d9c", "pid:[4026531836]"),
            new ProcessIdentity(4711, 1_234_567),
            new SharedFile(57, "", DirectoryLayout.REGION_BYTES),
            new Token(0x0102_0304_0506_0708L, -2));

    @Test
    void whatIsEncodedIsDecoded() throws TornReadException {
        assertEquals(ENDPOINT, EndpointCodec.decode(EndpointCodec.encode(ENDPOINT)));
        PeerEndpoint odd = new PeerEndpoint(
                "",
                new HostIdentity("", "\u00e4\u20ac\ud83d\ude00"),
                new ProcessIdentity(Long.MAX_VALUE, 0),
                new SharedFile(-1, "/dev/shm/" + "x".repeat(4000), Long.MAX_VALUE),
                new Token(Long.MIN_VALUE, Long.MAX_VALUE));
        assertEquals(odd, EndpointCodec.decode(EndpointCodec.encode(odd)));
    }

    @Test
    void anyBitThatFlipsIsNoticed() {
        byte[] bytes = EndpointCodec.encode(ENDPOINT);
        for (int bit = 0; bit < bytes.length * 8; bit++) {
            byte[] damaged = bytes.clone();
            damaged[bit / 8] ^= (byte) (1 << (bit % 8));
            assertThrows(TornReadException.class, () -> EndpointCodec.decode(damaged), "bit " + bit);
        }
    }

    @Test
    void anyByteThatChangesIsNoticed() {
        byte[] bytes = EndpointCodec.encode(ENDPOINT);
        for (int at = 0; at < bytes.length; at++) {
            for (int change = 1; change < 256; change++) {
                byte[] damaged = bytes.clone();
                damaged[at] ^= (byte) change;
                assertThrows(TornReadException.class, () -> EndpointCodec.decode(damaged));
            }
        }
    }

    @Test
    void anyCutIsNoticed() {
        byte[] bytes = EndpointCodec.encode(ENDPOINT);
        for (int length = 0; length < bytes.length; length++) {
            byte[] cut = Arrays.copyOf(bytes, length);
            assertThrows(TornReadException.class, () -> EndpointCodec.decode(cut));
        }
        byte[] longer = Arrays.copyOf(bytes, bytes.length + 1);
        assertThrows(TornReadException.class, () -> EndpointCodec.decode(longer));
        assertThrows(TornReadException.class, () -> EndpointCodec.decode(new byte[EndpointCodec.MAX_BYTES + 1]));
    }

    @Test
    void anotherVersionIsNamed() {
        byte[] bytes = EndpointCodec.encode(ENDPOINT);
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(4, 2);
        sign(bytes);
        String message = assertThrows(TornReadException.class, () -> EndpointCodec.decode(bytes))
                .getMessage();
        assertTrue(message.contains("version 2"), message);
    }

    @Test
    void garbageIsRefusedAndNothingElseHappens() {
        Random random = new Random(1);
        for (int round = 0; round < 100_000; round++) {
            byte[] garbage = new byte[random.nextInt(200)];
            random.nextBytes(garbage);
            assertThrows(TornReadException.class, () -> EndpointCodec.decode(garbage));
        }
    }

    /** As before, but with the right magic, version and check: the decoder itself sees the garbage. */
    @Test
    void garbageWithARightCheckIsDecodedOrRefused() {
        Random random = new Random(2);
        byte[] good = EndpointCodec.encode(ENDPOINT);
        int decoded = 0;
        for (int round = 0; round < 100_000; round++) {
            byte[] garbage = round % 2 == 0 ? new byte[12 + random.nextInt(200)] : good.clone();
            if (round % 2 == 0) {
                random.nextBytes(garbage);
                System.arraycopy(good, 0, garbage, 0, 8);
            } else {
                for (int i = 0; i < 3; i++) {
                    garbage[8 + random.nextInt(garbage.length - 12)] = (byte) random.nextInt();
                }
            }
            sign(garbage);
            try {
                EndpointCodec.decode(garbage);
                decoded++;
            } catch (TornReadException e) {
                assertFalse(e.getMessage().isEmpty());
            }
        }
        assertTrue(decoded > 1000, "some of it makes sense: " + decoded);
    }

    @Test
    void aStringIsNeverLongerThanTheAnswer() {
        byte[] bytes = new byte[64];
        System.arraycopy(EndpointCodec.encode(ENDPOINT), 0, bytes, 0, 8);
        // A length of 2^31 - 1, and one of -1.
        for (int last : new int[] {0x07, 0x0F}) {
            Arrays.fill(bytes, 8, 12, (byte) 0xFF);
            bytes[12] = (byte) last;
            sign(bytes);
            String message = assertThrows(TornReadException.class, () -> EndpointCodec.decode(bytes))
                    .getMessage();
            assertTrue(message.contains("a string of"), message);
        }
    }

    private static void sign(byte[] bytes) {
        int body = bytes.length - 4;
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(body, Crc32c.of(ByteBuffer.wrap(bytes, 0, body)));
    }
}
