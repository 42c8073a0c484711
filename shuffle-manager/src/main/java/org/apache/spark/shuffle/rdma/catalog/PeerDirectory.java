/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.catalog;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import org.sparkrdma.transport.api.ReadLease;
import org.sparkrdma.transport.api.RemoteRange;
import org.sparkrdma.transport.wire.DirectoryEntryLayout;
import org.sparkrdma.transport.wire.DirectoryEntryLayout.Entry;
import org.sparkrdma.transport.wire.DirectoryLayout;
import org.sparkrdma.transport.wire.DirectoryLayout.Segment;
import org.sparkrdma.transport.wire.TornReadException;

/** Looks map outputs up in an executor's directory by reading its memory: header, then one bucket of each segment. */
public final class PeerDirectory {
    /** A read that races with the owner's store is repeated so many times. */
    private static final int TORN_READ_ATTEMPTS = 1000;

    private PeerDirectory() {}

    /** The entry of a map output, or nothing if the executor does not have it. */
    public static Optional<Entry> lookup(SlabAccess slabs, int shuffleId, long mapId) throws IOException {
        for (int attempt = 1; ; attempt++) {
            try {
                return lookupOnce(slabs, shuffleId, mapId);
            } catch (TornReadException e) {
                if (attempt == TORN_READ_ATTEMPTS) {
                    throw e;
                }
                Thread.onSpinWait();
            }
        }
    }

    private static Optional<Entry> lookupOnce(SlabAccess slabs, int shuffleId, long mapId) throws IOException {
        List<Segment> segments;
        try (ReadLease header =
                slabs.read(new RemoteRange(DirectoryLayout.DIRECTORY_SLAB, 0, DirectoryLayout.HEADER_BYTES))) {
            segments = DirectoryLayout.segments(header.bytes());
        }
        for (int i = segments.size() - 1; i >= 0; i--) {
            Segment segment = segments.get(i);
            long offset = segment.bucketOffset(shuffleId, mapId);
            try (ReadLease bucket =
                    slabs.read(new RemoteRange(segment.slabId(), offset, DirectoryLayout.BUCKET_BYTES))) {
                Optional<Entry> found = find(bucket.bytes(), shuffleId, mapId);
                if (found.isPresent()) {
                    return found;
                }
            }
        }
        return Optional.empty();
    }

    private static Optional<Entry> find(ByteBuffer bucket, int shuffleId, long mapId) throws TornReadException {
        for (int slot = 0; slot < DirectoryLayout.BUCKET_ENTRIES; slot++) {
            Optional<Entry> entry = DirectoryEntryLayout.read(bucket, slot * DirectoryEntryLayout.BYTES);
            if (entry.isPresent()
                    && entry.get().shuffleId() == shuffleId
                    && entry.get().mapId() == mapId) {
                return entry;
            }
        }
        return Optional.empty();
    }
}
