/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One run of a workload.
 *
 * @param answer the same on every shuffle
 * @param figures by name: seconds end in {@code _s}, bytes in {@code _bytes}
 */
public record BenchRun(String answer, Map<String, Double> figures) {
    /** What a line of the application that reports a run starts with. */
    public static final String MARK = "bench-run ";

    private static final ObjectMapper MAPPER = new ObjectMapper();

    /** One line. */
    public String toLine() {
        try {
            return MARK + MAPPER.writeValueAsString(this);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The run that a line reports. */
    public static BenchRun fromLine(String line) {
        try {
            return MAPPER.readValue(line.substring(MARK.length()), BenchRun.class);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("not a report of a run: " + line, e);
        }
    }

    /** The same run with more figures. */
    public BenchRun with(Map<String, Double> more) {
        Map<String, Double> all = new LinkedHashMap<>(figures);
        all.putAll(more);
        return new BenchRun(answer, all);
    }
}
