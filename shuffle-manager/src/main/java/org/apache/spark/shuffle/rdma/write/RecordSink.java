/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.write;

import java.io.IOException;

/** Takes the records of all partitions: first it is asked for room, then told that the room was filled. */
interface RecordSink {
    /**
     * Room for a record of a partition: where to write it, an offset to {@link #base}. {@link #written} must follow.
     *
     * @throws IOException if there is no room left anywhere
     */
    long reserve(int partition, int bytes) throws IOException;

    /** What the answer of the last {@link #reserve} is an offset to: an array, or null if it is an address. */
    Object base();

    /** Counts a record in that was written where {@link #reserve} said. */
    void written(int partition, int bytes);
}
