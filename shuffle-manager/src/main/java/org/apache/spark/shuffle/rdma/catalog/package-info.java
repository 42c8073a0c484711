/* SPDX-License-Identifier: Apache-2.0 */
/** Publishes and looks up where map outputs lie; depends on the transport's api, wire and memory, and the JDK. */
package org.apache.spark.shuffle.rdma.catalog;
