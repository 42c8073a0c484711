/* SPDX-License-Identifier: Apache-2.0 */
/** What was read by which path and what memory is held, and the way to the driver; depends on Spark's RPC and the transport's memory. */
package org.apache.spark.shuffle.rdma.metrics;
