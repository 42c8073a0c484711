/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.tpcds;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/**
 * A query's answer as text, in the format of Spark's golden files: one line per row, fields
 * separated by tabs, values as Hive prints them.
 *
 * @param schema the schema's catalog string
 * @param rows one line per row, in the order in which they came
 */
public record Answer(String schema, List<String> rows) {
    /** Doubles are compared to so many significant digits: their sums depend on the order of the rows. */
    public static final int DOUBLE_DIGITS = 10;

    public Answer {
        rows = List.copyOf(rows);
    }

    public static Answer of(StructType schema, List<Row> rows) {
        List<String> lines = new ArrayList<>(rows.size());
        for (Row row : rows) {
            List<String> fields = new ArrayList<>();
            for (int i = 0; i < row.length(); i++) {
                fields.add(text(row.get(i), schema.fields()[i].dataType()));
            }
            lines.add(String.join("\t", fields));
        }
        return new Answer(schema.catalogString(), lines);
    }

    private static String text(Object value, DataType type) {
        if (value == null) {
            return "NULL";
        }
        if (value instanceof BigDecimal decimal) {
            return decimal.toPlainString();
        }
        if (value instanceof String || value instanceof Number || value instanceof java.sql.Date) {
            return value.toString();
        }
        throw new IllegalArgumentException("no text for a value of type " + type.catalogString());
    }

    /**
     * This answer as the suite compares it: numbers after # are masked, those of the brands among
     * them. Its other masks concern plans and catalogs, which no answer to TPC-DS holds.
     */
    public Answer masked() {
        return new Answer(
                schema, rows.stream().map(row -> row.replaceAll("#\\d+", "#x")).toList());
    }

    /** Reads the golden format: two headings, the schema and the rows. */
    public static Answer parse(String golden) {
        String[] parts = golden.split("-- !query.*\n", -1);
        if (parts.length != 3) {
            throw new IllegalArgumentException("a golden answer has 3 parts, this one " + parts.length);
        }
        String rows = parts[2].replaceAll("\\s+$", "");
        return new Answer(parts[1].strip(), rows.isEmpty() ? List.of() : List.of(rows.split("\n", -1)));
    }

    /** The golden format. */
    public String format() {
        return "-- !query schema\n" + schema + "\n-- !query output\n" + String.join("\n", rows) + "\n";
    }

    public void write(Path file) throws IOException {
        Files.writeString(file, format());
    }

    public static Answer read(Path file) throws IOException {
        return parse(Files.readString(file));
    }

    /**
     * How this differs from what was expected, or empty when it does not. Rows are compared as a
     * multiset, as Spark's suite does for all but its first configuration, and doubles to
     * {@link #DOUBLE_DIGITS} significant digits.
     */
    public Optional<String> differenceFrom(Answer expected) {
        if (!schema.equals(expected.schema)) {
            return Optional.of("schema " + schema + " instead of " + expected.schema);
        }
        List<String> mine = canonical();
        List<String> theirs = expected.canonical();
        if (mine.equals(theirs)) {
            return Optional.empty();
        }
        String rowCount = mine.size() == theirs.size() ? "" : mine.size() + " rows instead of " + theirs.size() + "; ";
        int at = IntStream.range(0, Math.min(mine.size(), theirs.size()))
                .filter(i -> !mine.get(i).equals(theirs.get(i)))
                .findFirst()
                .orElse(Math.min(mine.size(), theirs.size()));
        return Optional.of(rowCount + "sorted row " + at + " is [" + lineAt(mine, at) + "] instead of ["
                + lineAt(theirs, at) + "]");
    }

    private static String lineAt(List<String> lines, int at) {
        return at < lines.size() ? lines.get(at) : "missing";
    }

    private List<String> canonical() {
        List<String> types = types();
        return rows.stream().map(row -> canonical(row, types)).sorted().toList();
    }

    private static String canonical(String row, List<String> types) {
        String[] fields = row.split("\t", -1);
        for (int i = 0; i < Math.min(fields.length, types.size()); i++) {
            if ((types.get(i).equals("double") || types.get(i).equals("float"))
                    && !fields[i].equals("NULL")
                    && Double.isFinite(Double.parseDouble(fields[i]))) {
                fields[i] = new BigDecimal(fields[i])
                        .round(new MathContext(DOUBLE_DIGITS))
                        .stripTrailingZeros()
                        .toString();
            }
        }
        return String.join("\t", fields).strip();
    }

    /** The columns' types. Spark cannot parse its own catalog string, whose names are whole expressions without quotes. */
    List<String> types() {
        String columns = schema.substring("struct<".length(), schema.length() - 1);
        List<String> types = new ArrayList<>();
        int depth = 0;
        int start = 0;
        for (int i = 0; i <= columns.length(); i++) {
            char c = i < columns.length() ? columns.charAt(i) : ',';
            depth += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (c == ',' && depth == 0) {
                String column = columns.substring(start, i);
                types.add(column.substring(column.lastIndexOf(':') + 1));
                start = i + 1;
            }
        }
        return types;
    }
}
