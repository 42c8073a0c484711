/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.catalog;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.zip.CRC32C;
import org.sparkrdma.transport.api.ReadLease;

/**
 * The bytes of a run of partitions, read where they lie.
 *
 * @param slices the bytes in order
 * @param lengths length of each partition, bytes
 * @param crcs CRC32C of each partition
 * @param isOverflow whether some of it lies in overflow files
 * @param leases what to close when the bytes are no longer used
 */
public record StoredBlock(
        List<ByteBuffer> slices, long[] lengths, int[] crcs, boolean isOverflow, List<ReadLease> leases)
        implements AutoCloseable {

    /**
     * Compares every partition's bytes with its checksum.
     *
     * @param block names the block in the error
     * @throws ChecksumMismatchException at the first partition that differs
     */
    public void verify(String block) throws ChecksumMismatchException {
        verify(block, slices, lengths, crcs);
    }

    /** Compares the partitions that follow one another in {@code slices} with their checksums. */
    public static void verify(String block, List<ByteBuffer> slices, long[] lengths, int[] crcs)
            throws ChecksumMismatchException {
        int slice = 0;
        ByteBuffer current =
                slices.isEmpty() ? ByteBuffer.allocate(0) : slices.get(0).duplicate();
        for (int partition = 0; partition < lengths.length; partition++) {
            CRC32C crc = new CRC32C();
            long left = lengths[partition];
            while (left > 0) {
                while (!current.hasRemaining()) {
                    current = slices.get(++slice).duplicate();
                }
                int step = (int) Math.min(left, current.remaining());
                crc.update(current.slice(current.position(), step));
                current.position(current.position() + step);
                left -= step;
            }
            if ((int) crc.getValue() != crcs[partition]) {
                throw new ChecksumMismatchException(block, crcs[partition], (int) crc.getValue());
            }
        }
    }

    /** Bytes of all partitions. */
    public long bytes() {
        long sum = 0;
        for (long length : lengths) {
            sum += length;
        }
        return sum;
    }

    @Override
    public void close() {
        leases.forEach(ReadLease::close);
    }
}
