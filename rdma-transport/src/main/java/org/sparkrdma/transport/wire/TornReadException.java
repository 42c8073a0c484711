/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.wire;

import java.io.IOException;

/** A structure read from a peer's memory does not match its own check: it was being written, or it is damaged. */
public class TornReadException extends IOException {
    private static final long serialVersionUID = 1L;

    /** Names what was read and where. */
    public TornReadException(String message) {
        super(message);
    }
}
