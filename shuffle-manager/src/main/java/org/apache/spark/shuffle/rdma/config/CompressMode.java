/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.config;

/** When directly written map outputs are compressed. */
public enum CompressMode {
    /** Raw where memory allows; compressed under memory pressure and on the way out by Netty. */
    AUTO,
    /** Always. */
    ALWAYS,
    /** Never, not even on the way out. */
    NEVER
}
