/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.tpcds;

import io.trino.tpcds.Table;
import io.trino.tpcds.column.Column;
import io.trino.tpcds.column.ColumnType;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.spark.sql.SparkSession;

/**
 * The 24 tables with the names and types that Spark's own TPC-DS tests give their columns, because
 * the golden answers depend on them. They are the generator's but for the differences below.
 */
public final class TpcdsSchema {
    private static final Map<String, String> SPARKS_NAME = Map.of(
            "c_last_review_date_sk", "c_last_review_date",
            "p_response_targe", "p_response_target",
            "s_tax_precentage", "s_tax_percentage");
    private static final Map<String, String> SPARKS_TYPE = Map.of("w_street_name", "VARCHAR(20)");

    private TpcdsSchema() {}

    /** The tables that queries read, in the generator's order. */
    public static List<Table> tables() {
        return Table.getBaseTables().stream()
                .filter(table -> table != Table.DBGEN_VERSION)
                .toList();
    }

    /** A table's columns as SQL declares them: names and types, CHAR and VARCHAR among them. */
    public static String ddl(Table table) {
        return Arrays.stream(table.getColumns())
                .map(column -> "`" + name(column) + "` " + type(column))
                .collect(Collectors.joining(", "));
    }

    /**
     * Declares all tables over Parquet files, as Spark's tests do.
     *
     * @param data the folder with one folder per table
     */
    public static void createTables(SparkSession spark, Path data) {
        for (Table table : tables()) {
            spark.sql("CREATE TABLE `" + table.getName() + "` (" + ddl(table) + ") USING parquet LOCATION '"
                    + data.resolve(table.getName()).toUri() + "'");
        }
    }

    static String name(Column column) {
        String name = column.getName().toLowerCase(Locale.ROOT);
        return SPARKS_NAME.getOrDefault(name, name);
    }

    static String type(Column column) {
        String fixed = SPARKS_TYPE.get(name(column));
        if (fixed != null) {
            return fixed;
        }
        ColumnType type = column.getType();
        return switch (type.getBase()) {
            case IDENTIFIER, INTEGER -> "INT";
            case DATE -> "DATE";
            case DECIMAL ->
                "DECIMAL(" + type.getPrecision().orElseThrow() + ","
                        + type.getScale().orElseThrow() + ")";
            case CHAR -> "CHAR(" + type.getPrecision().orElseThrow() + ")";
            case VARCHAR -> "VARCHAR(" + type.getPrecision().orElseThrow() + ")";
            default -> throw new IllegalStateException(column.getName() + " has type " + type.getBase());
        };
    }
}
