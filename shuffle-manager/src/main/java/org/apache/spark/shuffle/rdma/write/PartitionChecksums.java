/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.write;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.zip.CRC32C;
import org.sparkrdma.transport.memory.ExtentChain;

/** Checksums of partitions that already lie in a chain. */
final class PartitionChecksums {
    private PartitionChecksums() {}

    /** CRC32C of each of the partitions that follow one another in {@code data}. */
    static int[] of(ExtentChain data, long[] lengths) {
        int[] crcs = new int[lengths.length];
        long at = 0;
        for (int partition = 0; partition < lengths.length; partition++) {
            List<ByteBuffer> views = data.views(at, at + lengths[partition]);
            CRC32C crc = new CRC32C();
            views.forEach(crc::update);
            crcs[partition] = (int) crc.getValue();
            at += lengths[partition];
        }
        return crcs;
    }
}
