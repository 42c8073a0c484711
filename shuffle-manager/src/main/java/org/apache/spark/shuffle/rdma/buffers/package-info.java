/* SPDX-License-Identifier: Apache-2.0 */
/** Block ids, and Spark's managed buffers over memory that this plugin lends; depends on Spark and Netty. */
package org.apache.spark.shuffle.rdma.buffers;
