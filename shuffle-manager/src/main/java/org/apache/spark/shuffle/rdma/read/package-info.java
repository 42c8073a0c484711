/* SPDX-License-Identifier: Apache-2.0 */
/** From a reduce task's wish for blocks to verified bytes, by the best path; depends on catalog, buffers, fallback, metrics. */
package org.apache.spark.shuffle.rdma.read;
