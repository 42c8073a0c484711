/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

/**
 * What a pool holds, in bytes.
 *
 * @param memoryLimit most that slabs in shared memory may take
 * @param memory slabs in shared memory
 * @param memoryPeak most that slabs in shared memory ever took
 * @param overflow slabs in files on local disk
 * @param overflowPeak most that slabs on local disk ever took
 * @param used extents handed out, quarantined ones included
 * @param quarantined extents given back that rest before they are used again
 */
public record PoolUsage(
        long memoryLimit,
        long memory,
        long memoryPeak,
        long overflow,
        long overflowPeak,
        long used,
        long quarantined) {}
