/* SPDX-License-Identifier: Apache-2.0 */
/** Every setting: declared, bounded, described and read in one place; depends on Spark's configuration and the JDK. */
package org.apache.spark.shuffle.rdma.config;
