/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.tpcds;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.shuffle.rdma.metrics.PathBytes;

/**
 * What {@link RunTpcds} reports of one query: a line of JSON in its {@code report.jsonl}.
 *
 * @param name the query's name
 * @param rows rows of its answer
 * @param seconds what each counted pass took, seconds
 * @param bytes shuffle bytes read by path in the last counted pass
 * @param error why there is no answer, when it failed
 */
public record QueryRun(String name, int rows, List<Double> seconds, PathBytes bytes, Optional<String> error) {
    static final String FILE = "report.jsonl";
    private static final ObjectMapper JSON = new ObjectMapper();

    public QueryRun {
        seconds = List.copyOf(seconds);
    }

    /** The median of the passes, seconds. */
    public double medianSeconds() {
        List<Double> sorted = seconds.stream().sorted().toList();
        int middle = sorted.size() / 2;
        if (sorted.isEmpty()) {
            return Double.NaN;
        }
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }

    /** The bytes by the path's name. */
    public Map<String, Long> bytesByPath() {
        Map<String, Long> byPath = new LinkedHashMap<>();
        byPath.put("local", bytes.local());
        byPath.put("shm", bytes.shm());
        byPath.put("rdma", bytes.rdma());
        byPath.put("netty", bytes.netty());
        byPath.put("overflow", bytes.overflow());
        return byPath;
    }

    String toJson() throws IOException {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("name", name);
        fields.put("rows", rows);
        fields.put("seconds", seconds);
        fields.put("bytes", bytesByPath());
        error.ifPresent(text -> fields.put("error", text));
        return JSON.writeValueAsString(fields);
    }

    /** Reads what an application left in its folder, by the query's name. */
    public static Map<String, QueryRun> readAll(Path folder) throws IOException {
        Map<String, QueryRun> all = new LinkedHashMap<>();
        for (String line : Files.readAllLines(folder.resolve(FILE))) {
            var node = JSON.readTree(line);
            var bytes = node.get("bytes");
            List<Double> seconds = new ArrayList<>();
            node.get("seconds").forEach(each -> seconds.add(each.asDouble()));
            QueryRun run = new QueryRun(
                    node.get("name").asText(),
                    node.get("rows").asInt(),
                    seconds,
                    new PathBytes(
                            bytes.get("local").asLong(),
                            bytes.get("shm").asLong(),
                            bytes.get("rdma").asLong(),
                            bytes.get("netty").asLong(),
                            bytes.get("overflow").asLong()),
                    Optional.ofNullable(node.get("error")).map(text -> text.asText()));
            all.put(run.name(), run);
        }
        return all;
    }
}
