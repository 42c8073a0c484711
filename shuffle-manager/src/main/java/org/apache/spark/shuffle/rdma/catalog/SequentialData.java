/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.catalog;

import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.transport.memory.ExtentChain;

/** Partitions that follow one another in a sealed chain, as Spark's own writers leave them. */
final class SequentialData implements MapOutputData {
    private final ExtentChain chain;
    private final long[] lengths;
    private final int[] crcs;
    private final boolean isRaw;
    private final List<List<ExtentChain.Piece>> pieces;
    private final int pieceCount;

    SequentialData(ExtentChain chain, long[] lengths, int[] crcs, boolean isRaw) {
        this.isRaw = isRaw;
        this.chain = chain;
        this.lengths = lengths;
        this.crcs = crcs;
        this.pieces = new ArrayList<>(lengths.length);
        int count = 0;
        long at = 0;
        for (long length : lengths) {
            List<ExtentChain.Piece> ofPartition = chain.pieces(at, at + length);
            pieces.add(ofPartition);
            count += ofPartition.size();
            at += length;
        }
        this.pieceCount = count;
    }

    @Override
    public long[] lengths() {
        return lengths;
    }

    @Override
    public int[] crcs() {
        return crcs;
    }

    @Override
    public boolean isRaw() {
        return isRaw;
    }

    @Override
    public int pieceCount() {
        return pieceCount;
    }

    @Override
    public void pieces(int partition, PieceSink sink) {
        for (ExtentChain.Piece piece : pieces.get(partition)) {
            sink.piece(piece.slab().id(), piece.offset(), piece.length());
        }
    }

    @Override
    public Runnable givingBack() {
        return chain::free;
    }
}
