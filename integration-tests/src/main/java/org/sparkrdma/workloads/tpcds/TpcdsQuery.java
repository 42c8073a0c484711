/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.tpcds;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * One of the 103 queries of TPC-DS 1.4, with the text and the golden answer of Spark's own tests
 * (the tests jar of spark-sql; this module's jar carries both).
 *
 * <p>Spark's suite has no 1.4 answers for q6 and q75, whose 1.4 texts do not order their rows to
 * the last: it checks the 2.7 texts, which differ in ORDER BY alone. So do we.
 *
 * @param name such as {@code q14a}
 */
public record TpcdsQuery(String name) {
    private static final Set<Integer> IN_TWO_PARTS = Set.of(14, 23, 24, 39);
    private static final List<String> NEWER_TEXT = List.of("q6", "q75");

    /** All 103, in order of number. */
    public static List<TpcdsQuery> all() {
        List<TpcdsQuery> all = new ArrayList<>();
        for (int number = 1; number <= 99; number++) {
            if (IN_TWO_PARTS.contains(number)) {
                all.add(new TpcdsQuery("q" + number + "a"));
                all.add(new TpcdsQuery("q" + number + "b"));
            } else {
                all.add(new TpcdsQuery("q" + number));
            }
        }
        return all;
    }

    /** The queries of these names; an unknown one is an error. */
    public static List<TpcdsQuery> named(List<String> names) {
        Map<String, TpcdsQuery> known = new TreeMap<>();
        all().forEach(query -> known.put(query.name(), query));
        for (String name : names) {
            if (!known.containsKey(name)) {
                throw new IllegalArgumentException("no TPC-DS query is called " + name + "; there are q1 to q99,"
                        + " with q14, q23, q24 and q39 as q14a and q14b and so on");
            }
        }
        return names.stream().map(known::get).toList();
    }

    public String text() {
        String folder = NEWER_TEXT.contains(name) ? "tpcds-v2.7.0/" : "tpcds/";
        return resource(folder + name + ".sql")
                .orElseThrow(() -> new IllegalStateException("no text of " + name + " on the class path"));
    }

    /** The answer at scale 1 in the suite's own format. */
    public String golden() {
        String folder = NEWER_TEXT.contains(name) ? "v2_7/" : "v1_4/";
        return resource("tpcds-query-results/" + folder + name + ".sql.out")
                .orElseThrow(() -> new IllegalStateException("no golden answer of " + name + " on the class path"));
    }

    private static Optional<String> resource(String path) {
        try (InputStream in = TpcdsQuery.class.getClassLoader().getResourceAsStream(path)) {
            return in == null ? Optional.empty() : Optional.of(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new IllegalStateException("cannot read " + path, e);
        }
    }
}
