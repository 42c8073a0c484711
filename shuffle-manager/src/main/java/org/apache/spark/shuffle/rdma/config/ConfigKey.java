/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.config;

import org.apache.spark.SparkConf;

/**
 * One setting: all that is known about it, and how to read it.
 *
 * @param <T> the Java type of its value
 * @param name the full key, such as {@code spark.shuffle.rdma.slab.size}
 * @param type what values look like, with their unit and bounds
 * @param defaultText the value used when the key is not set, as one would write it
 * @param documentation what it does, in Markdown
 * @param since the first version that knew it
 */
public record ConfigKey<T>(String name, ValueType<T> type, String defaultText, String documentation, String since) {
    /**
     * The value that {@code conf} gives to this key, or the default.
     *
     * @throws IllegalArgumentException if the value is malformed or out of bounds; the message says what to do
     */
    public T read(SparkConf conf) {
        return type.parse(name, conf.get(name, defaultText).trim());
    }

    /** The unit of values written without a suffix; empty where values have no unit. */
    public String unit() {
        return type.unit();
    }

    /** The accepted values in words. */
    public String bounds() {
        return type.bounds();
    }
}
