/* SPDX-License-Identifier: Apache-2.0 */
/** All that differs between Spark lines or reaches behind Spark's public methods; depends on Spark alone. */
package org.apache.spark.shuffle.rdma.compat;
