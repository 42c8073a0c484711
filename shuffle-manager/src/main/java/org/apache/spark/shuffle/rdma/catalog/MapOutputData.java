/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.catalog;

/** The bytes of a map output, wherever its partitions' pieces lie. */
public interface MapOutputData {
    /** Length of each partition, bytes. */
    long[] lengths();

    /** CRC32C of each partition. */
    int[] crcs();

    /** Whether the bytes are the serializer's own, neither compressed nor encrypted. */
    boolean isRaw();

    /** Pieces of all partitions. */
    int pieceCount();

    /** Tells the pieces of a partition in order; asked for each partition once, in order. */
    void pieces(int partition, PieceSink sink);

    /**
     * What gives the memory back; running it twice does nothing. It is all that is kept for the life of the map output, so
     * it must hold on to nothing that grows with the partitions.
     */
    Runnable givingBack();

    /** Takes pieces: {@code length} bytes at {@code offset} of a slab. */
    @FunctionalInterface
    interface PieceSink {
        /** A piece that follows the one before. */
        void piece(int slabId, long offset, int length);
    }
}
