/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.tools;

import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.sparkrdma.workloads.tpcds.TpcdsQuery;
import picocli.CommandLine.Option;

/** The options that bin/demo and bin/tpcds share. */
final class ComparisonOptions {
    @Option(names = "--json", paramLabel = "FILE", description = "write the outcome to this file as JSON")
    Optional<Path> json = Optional.empty();

    @Option(names = "--queries", split = ",", paramLabel = "NAME", description = "the queries, such as q3,q14a")
    List<String> queries = List.of();

    @Option(names = "--conf", paramLabel = "KEY=VALUE", description = "Spark configuration, for both sides")
    Map<String, String> conf = new LinkedHashMap<>();

    @Option(
            names = "--partitions",
            defaultValue = "8",
            description = "spark.sql.shuffle.partitions (default: ${DEFAULT-VALUE})")
    int partitions;

    @Option(
            names = "--aqe",
            defaultValue = "on",
            paramLabel = "on|off",
            description = "adaptive query execution (default: ${DEFAULT-VALUE})")
    String aqe;

    /** The configuration that makes the queries shuffle, and what the caller added. */
    Map<String, String> conf() {
        if (!aqe.equals("on") && !aqe.equals("off")) {
            throw new IllegalArgumentException("--aqe is on or off, not " + aqe);
        }
        Map<String, String> all = new LinkedHashMap<>();
        // No broadcast joins: both sides of every join are shuffled.
        all.put("spark.sql.autoBroadcastJoinThreshold", "-1");
        all.put("spark.sql.shuffle.partitions", Integer.toString(partitions));
        all.put("spark.sql.adaptive.enabled", Boolean.toString(aqe.equals("on")));
        all.putAll(conf);
        return all;
    }

    List<String> queries(List<String> defaults) {
        return TpcdsQuery.named(queries.isEmpty() ? defaults : queries).stream()
                .map(TpcdsQuery::name)
                .toList();
    }

    static void checkScale(BigDecimal scale) {
        if (scale.signum() <= 0) {
            throw new IllegalArgumentException("--scale is a positive number, not " + scale);
        }
    }
}
