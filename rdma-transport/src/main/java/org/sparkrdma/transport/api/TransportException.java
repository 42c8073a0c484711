/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.api;

import java.io.IOException;

/** A transport could not reach a peer or read its memory; the message names operation, peer and cause. */
public class TransportException extends IOException {
    private static final long serialVersionUID = 1L;

    /** An error of the transport itself. */
    public TransportException(String message) {
        super(message);
    }

    /** An error with the exception that led to it. */
    public TransportException(String message, Throwable cause) {
        super(message, cause);
    }
}
