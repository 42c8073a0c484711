/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.compat;

import org.apache.spark.ShuffleDependency;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.scheduler.MapStatus$;
import org.apache.spark.shuffle.checksum.RowBasedChecksum;
import org.apache.spark.storage.BlockManagerId;

/**
 * Spark's order-independent checksums of a map task's records, from which it learns whether a re-run task gave another
 * answer (4.1 and later); and the map status that carries them.
 */
public final class RowChecksums {
    private final RowBasedChecksum[] ofPartition;

    private RowChecksums(RowBasedChecksum[] ofPartition) {
        this.ofPartition = ofPartition;
    }

    /** Those that a dependency asks for. */
    public static RowChecksums of(ShuffleDependency<?, ?, ?> dependency) {
        return new RowChecksums(dependency.rowBasedChecksums());
    }

    /** Whether the dependency asks for any. */
    public boolean isWanted() {
        return ofPartition.length > 0;
    }

    /** Counts a record in. */
    public void update(int partition, Object key, Object value) {
        ofPartition[partition].update(key, value);
    }

    /** The status of a finished map task. */
    public MapStatus mapStatus(BlockManagerId location, long[] lengths, long mapId) {
        return MapStatus$.MODULE$.apply(
                location, lengths, mapId, RowBasedChecksum.getAggregatedChecksumValue(ofPartition));
    }
}
