/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.wire;

import com.esotericsoftware.kryo.kryo5.KryoException;
import com.esotericsoftware.kryo.kryo5.io.Input;
import com.esotericsoftware.kryo.kryo5.io.Output;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.sparkrdma.transport.api.HostIdentity;
import org.sparkrdma.transport.api.PeerEndpoint;
import org.sparkrdma.transport.api.PeerEndpoint.SharedFile;
import org.sparkrdma.transport.api.PeerEndpoint.Token;
import org.sparkrdma.transport.api.ProcessIdentity;

/**
 * The answer to the bootstrap, in Kryo's primitive encoding because its parts vary in length.
 *
 * <pre>
 *   int magic | int version | string executor | string boot id | string pid namespace | varlong pid |
 *   varlong start time | int descriptor | string path | varlong directory bytes | long token high, low | int crc32c
 *
 *   string: varint bytes | UTF-8
 * </pre>
 *
 * The check covers everything before it. Only strings and numbers are decoded, never objects by class name, and a
 * string is never longer than what is left: Kryo's own strings allocate what they are told to.
 */
public final class EndpointCodec {
    /** Version of this layout. */
    public static final int VERSION = 1;
    /** Longest answer that is decoded. */
    public static final int MAX_BYTES = 64 * 1024;

    private static final int MAGIC = 0x4550_5431;
    private static final int CRC_BYTES = 4;

    private EndpointCodec() {}

    /** Encodes an endpoint. */
    public static byte[] encode(PeerEndpoint endpoint) {
        Output out = new Output(512, MAX_BYTES);
        out.writeInt(MAGIC);
        out.writeInt(VERSION);
        writeString(out, endpoint.executorId());
        writeString(out, endpoint.host().bootId());
        writeString(out, endpoint.host().pidNamespace());
        out.writeVarLong(endpoint.process().pid(), true);
        out.writeVarLong(endpoint.process().startTime(), true);
        out.writeInt(endpoint.directory().descriptor());
        writeString(out, endpoint.directory().path());
        out.writeVarLong(endpoint.directory().length(), true);
        out.writeLong(endpoint.token().high());
        out.writeLong(endpoint.token().low());
        out.writeInt(Crc32c.of(ByteBuffer.wrap(out.getBuffer(), 0, out.position())));
        return out.toBytes();
    }

    /**
     * Decodes an endpoint.
     *
     * @throws TornReadException if the bytes are not an endpoint of a version that this process reads
     */
    public static PeerEndpoint decode(byte[] bytes) throws TornReadException {
        if (bytes.length < 3 * Integer.BYTES || bytes.length > MAX_BYTES) {
            throw new TornReadException("an answer to the bootstrap has " + bytes.length + " bytes");
        }
        try (Input in = new Input(bytes)) {
            if (in.readInt() != MAGIC) {
                throw new TornReadException("the answer to the bootstrap is not one of this plugin");
            }
            int version = in.readInt();
            if (version != VERSION) {
                throw new TornReadException(
                        "the peer speaks bootstrap version " + version + ", this process " + VERSION);
            }
            int body = bytes.length - CRC_BYTES;
            if (new Input(bytes, body, CRC_BYTES).readInt() != Crc32c.of(ByteBuffer.wrap(bytes, 0, body))) {
                throw new TornReadException("the answer to the bootstrap does not match its check");
            }
            in.setLimit(body);
            PeerEndpoint endpoint = new PeerEndpoint(
                    readString(in),
                    new HostIdentity(readString(in), readString(in)),
                    new ProcessIdentity(in.readVarLong(true), in.readVarLong(true)),
                    new SharedFile(in.readInt(), readString(in), in.readVarLong(true)),
                    new Token(in.readLong(), in.readLong()));
            if (in.position() != body) {
                throw new TornReadException(
                        "the answer to the bootstrap has " + (body - in.position()) + " bytes too many");
            }
            return endpoint;
        } catch (KryoException e) {
            throw new TornReadException("the answer to the bootstrap cannot be decoded: " + e.getMessage());
        }
    }

    private static void writeString(Output out, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeVarInt(bytes.length, true);
        out.writeBytes(bytes);
    }

    private static String readString(Input in) throws TornReadException {
        int length = in.readVarInt(true);
        if (length < 0 || length > in.limit() - in.position()) {
            throw new TornReadException("the answer to the bootstrap holds a string of " + length + " bytes");
        }
        return new String(in.readBytes(length), StandardCharsets.UTF_8);
    }
}
