/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.fallback;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.sparkrdma.transport.api.PeerEndpoint;
import org.sparkrdma.transport.wire.EndpointCodec;
import org.sparkrdma.transport.wire.TornReadException;

/** The bytes of the reserved block: one byte that says whether an endpoint follows, then {@link EndpointCodec}'s. */
public final class BootstrapAnswer {
    private static final byte NOT_YET = 0;
    private static final byte ENDPOINT = 1;

    private BootstrapAnswer() {}

    /** Encodes an answer; nothing means that this executor has no memory to read yet. */
    public static ByteBuffer encode(Optional<PeerEndpoint> endpoint) {
        if (endpoint.isEmpty()) {
            return ByteBuffer.wrap(new byte[] {NOT_YET});
        }
        byte[] body = EndpointCodec.encode(endpoint.get());
        ByteBuffer answer = ByteBuffer.allocate(1 + body.length);
        answer.put(ENDPOINT).put(body);
        return answer.flip();
    }

    /** Decodes an answer. */
    public static Optional<PeerEndpoint> decode(ByteBuffer answer) throws IOException {
        ByteBuffer bytes = answer.duplicate();
        if (!bytes.hasRemaining() || bytes.remaining() > EndpointCodec.MAX_BYTES + 1) {
            throw new TornReadException("an answer to the bootstrap has " + bytes.remaining() + " bytes");
        }
        byte kind = bytes.get();
        if (kind == NOT_YET) {
            return Optional.empty();
        }
        byte[] body = new byte[bytes.remaining()];
        bytes.get(body);
        return Optional.of(EndpointCodec.decode(body));
    }
}
