/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.config;

import java.util.Collection;
import java.util.Comparator;

/** Finds the name that was probably meant. */
final class NearestName {
    private NearestName() {}

    /** The candidate that takes the fewest single-letter edits; the first of several. */
    static String of(String name, Collection<String> candidates) {
        return candidates.stream()
                .min(Comparator.comparingInt(candidate -> edits(name, candidate)))
                .orElseThrow();
    }

    /** The Levenshtein distance, kept row by row. */
    private static int edits(String from, String to) {
        int[] row = new int[to.length() + 1];
        for (int j = 0; j <= to.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= from.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= to.length(); j++) {
                int replaced = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[to.length()];
    }
}
