/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.config;

/**
 * What the values of a setting look like. Instances come from {@link ValueTypes}.
 *
 * @param <T> the Java type of a value
 * @param name the type in one word, such as {@code size}
 * @param unit the unit of a value written without a suffix; empty if there is none
 * @param bounds the accepted values in words
 * @param parser turns text into a value or refuses it
 */
public record ValueType<T>(String name, String unit, String bounds, Parser<T> parser) {
    /** Turns the text of a setting into its value. */
    @FunctionalInterface
    public interface Parser<T> {
        /**
         * Parses or refuses.
         *
         * @throws Refusal if the text is malformed or out of bounds
         */
        T parse(String text) throws Refusal;
    }

    /** Why a text was refused: continues the sentence that starts with {@code key=value}. */
    static final class Refusal extends Exception {
        private static final long serialVersionUID = 1L;

        /** For example {@code is not a power of two} and {@code set it to one between 1m and 1g}. */
        Refusal(String reason, String remedy) {
            super(reason + ": " + remedy);
        }
    }

    T parse(String key, String text) {
        try {
            return parser.parse(text);
        } catch (Refusal refusal) {
            throw new IllegalArgumentException(key + "=" + text + " " + refusal.getMessage(), refusal);
        }
    }
}
