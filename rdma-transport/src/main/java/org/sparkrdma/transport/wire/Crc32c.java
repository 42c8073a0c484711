/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.wire;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** CRC-32C (Castagnoli, RFC 3720 appendix B.4), the check of every layout and block. */
public final class Crc32c {
    private Crc32c() {}

    /** The check of a buffer's remaining bytes; the buffer's position stays. */
    public static int of(ByteBuffer bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.duplicate());
        return (int) crc.getValue();
    }

    /** The check of a part of a buffer. */
    public static int of(ByteBuffer bytes, int offset, int length) {
        return of(bytes.slice(offset, length));
    }
}
