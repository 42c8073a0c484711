/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.read;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.UnsafeRowSerializer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.sparkrdma.transport.wire.Crc32c;
import scala.Tuple2;
import scala.collection.Iterator;

/** Reads a block of 100,000 rows: in place, by Spark's deserializer, and its checksum: nanoseconds per row. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class ReadBenchmark {
    private static final int ROWS = 100_000;

    @Param({"16", "304"})
    int rowBytes;

    private ByteBuffer block;
    private byte[] onHeap;
    private final UnsafeRow row = new UnsafeRow(1);

    /** A block as the writers leave it. */
    @Setup
    public void fill() {
        block = ByteBuffer.allocateDirect(ROWS * (4 + rowBytes));
        for (int i = 0; i < ROWS; i++) {
            block.putInt(rowBytes);
            block.position(block.position() + rowBytes);
        }
        block.flip();
        onHeap = new byte[block.remaining()];
        block.duplicate().get(onHeap);
    }

    /** Rows where they lie. */
    @Benchmark
    @OperationsPerInvocation(ROWS)
    public long inPlace() throws IOException {
        RowCursor cursor = new RowCursor("block", List.of(block), row);
        long sum = 0;
        while (cursor.advance()) {
            sum += row.getLong(0);
        }
        return sum;
    }

    /** Rows as Spark's own reader gets them from an uncompressed stream. */
    @Benchmark
    @OperationsPerInvocation(ROWS)
    public long sparkDeserializer() {
        Iterator<Tuple2<Object, Object>> rows = new UnsafeRowSerializer(1, null)
                .newInstance()
                .deserializeStream(new ByteArrayInputStream(onHeap))
                .asKeyValueIterator();
        long sum = 0;
        while (rows.hasNext()) {
            sum += ((UnsafeRow) rows.next()._2()).getLong(0);
        }
        return sum;
    }

    /** The block's checksum. */
    @Benchmark
    @OperationsPerInvocation(ROWS)
    public int checksum() {
        return Crc32c.of(block);
    }
}
