/* SPDX-License-Identifier: Apache-2.0 */
/** Spark's own block transfer: the path that is always there, and the carrier of the bootstrap; depends on buffers. */
package org.apache.spark.shuffle.rdma.fallback;
