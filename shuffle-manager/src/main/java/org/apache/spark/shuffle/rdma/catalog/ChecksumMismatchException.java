/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.catalog;

import java.io.IOException;

/** A block's bytes do not match their checksum; they were not handed on. */
public class ChecksumMismatchException extends IOException {
    private static final long serialVersionUID = 1L;

    /** Names the block, the path it came by, and both checksums. */
    public ChecksumMismatchException(String block, int expected, int found) {
        super(String.format(
                "%s: checksum CRC32C is %08x, expected %08x: the bytes are damaged", block, found, expected));
    }
}
