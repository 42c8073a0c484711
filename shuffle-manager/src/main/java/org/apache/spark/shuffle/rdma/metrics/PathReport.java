/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.metrics;

import java.io.Serializable;

/**
 * An executor's message to the driver.
 *
 * @param executorId who reports
 * @param total bytes read by path since the executor started: a report replaces the one before
 */
public record PathReport(String executorId, PathBytes total) implements Serializable {}
