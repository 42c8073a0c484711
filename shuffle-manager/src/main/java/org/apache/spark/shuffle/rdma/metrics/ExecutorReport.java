/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.metrics;

import java.io.Serializable;

/**
 * An executor's message to the driver; it replaces the one before.
 *
 * @param executorId who reports
 * @param read bytes read by path since the executor started
 * @param slabs the memory that it holds now
 */
public record ExecutorReport(String executorId, PathBytes read, SlabBytes slabs) implements Serializable {}
