/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.tpcds;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.shuffle.rdma.metrics.PathBytes;

/**
 * One run of a query, as {@link RunTpcds} reports it in a line of JSON.
 *
 * @param name the query's name
 * @param rows rows of its answer
 * @param seconds what it took, seconds
 * @param bytes shuffle bytes read by path
 * @param error why there is no answer, when it failed
 */
public record QueryRun(String name, int rows, double seconds, PathBytes bytes, Optional<String> error) {
    private static final ObjectMapper JSON = new ObjectMapper();

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

    /** Reads what {@link #toJson} wrote. */
    public static QueryRun fromJson(String line) throws IOException {
        JsonNode node = JSON.readTree(line);
        JsonNode bytes = node.get("bytes");
        return new QueryRun(
                node.get("name").asText(),
                node.get("rows").asInt(),
                node.get("seconds").asDouble(),
                new PathBytes(
                        bytes.get("local").asLong(),
                        bytes.get("shm").asLong(),
                        bytes.get("rdma").asLong(),
                        bytes.get("netty").asLong(),
                        bytes.get("overflow").asLong()),
                Optional.ofNullable(node.get("error")).map(JsonNode::asText));
    }
}
