/* SPDX-License-Identifier: Apache-2.0 */
/** The wiring: Spark's entry points, lifecycle and the assembly of the rooms below; may depend on all of them. */
package org.apache.spark.shuffle.rdma;
