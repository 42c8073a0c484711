/* SPDX-License-Identifier: Apache-2.0 */
/** From a map task's bytes to extents; depends on catalog, buffers and the transport's memory. */
package org.apache.spark.shuffle.rdma.write;
