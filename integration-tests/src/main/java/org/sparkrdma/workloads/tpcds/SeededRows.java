/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.tpcds;

import io.trino.tpcds.Results;
import io.trino.tpcds.Session;
import io.trino.tpcds.Table;
import io.trino.tpcds.random.RandomNumberStream;
import io.trino.tpcds.row.generator.RowGenerator;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * The generator's rows from another seed than its built-in one. Spark's golden answers belong to
 * data that was made with {@code dsdgen -RNGSEED 100}; Trino's port of dsdgen has no such option,
 * so that its random streams are set anew, by reflection, before the first row is made.
 */
final class SeededRows {
    /** What Spark's own GenTPCDSData passes to dsdgen. */
    static final int SEED = 100;

    /** dsdgen's default, compiled into the port. */
    private static final int BUILT_IN_SEED = 19620718;

    private SeededRows() {}

    /** The rows of a session's chunk of a table, values as text; null and the empty string both mean NULL. */
    static Iterator<List<List<String>>> of(Table table, Session session) {
        Iterator<List<List<String>>> rows =
                Results.constructResults(table, session).iterator();
        try {
            for (String field : List.of("rowGenerator", "parentRowGenerator", "childRowGenerator")) {
                if (get(rows, field) instanceof RowGenerator generator) {
                    reseed(generator);
                }
            }
            Method skip = rows.getClass().getDeclaredMethod("skipRowsUntilStartingRowNumber", long.class);
            skip.setAccessible(true);
            skip.invoke(rows, get(rows, "rowNumber"));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("this version of io.trino.tpcds:tpcds is built otherwise", e);
        }
        return rows;
    }

    private static void reseed(RowGenerator generator) throws ReflectiveOperationException {
        for (Object each : ((Map<?, ?>) get(generator, "randomNumberStreamMap")).values()) {
            RandomNumberStream stream = (RandomNumberStream) each;
            Field initialSeed = field(stream.getClass(), "initialSeed");
            initialSeed.setLong(stream, initialSeed.getLong(stream) - BUILT_IN_SEED + SEED);
            stream.resetSeed();
        }
    }

    private static Object get(Object of, String name) throws ReflectiveOperationException {
        return field(of.getClass(), name).get(of);
    }

    private static Field field(Class<?> type, String name) throws NoSuchFieldException {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            for (Field field : each.getDeclaredFields()) {
                if (field.getName().equals(name)) {
                    field.setAccessible(true);
                    return field;
                }
            }
        }
        throw new NoSuchFieldException(type.getName() + "." + name);
    }
}
