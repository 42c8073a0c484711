/* SPDX-License-Identifier: Apache-2.0 */
/** Counters of what was read by which path, and their way to the driver; depends on Spark's RPC and the JDK. */
package org.apache.spark.shuffle.rdma.metrics;
