/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.tpcds;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.trino.tpcds.Table;
import java.util.List;
import org.apache.spark.sql.types.DataType;
import org.junit.jupiter.api.Test;

class TpcdsQueryTest {
    @Test
    void allHaveATextAndAGoldenAnswer() {
        List<TpcdsQuery> all = TpcdsQuery.all();
        assertEquals(103, all.size());
        for (TpcdsQuery query : all) {
            assertFalse(query.text().isBlank(), query.name());
            assertFalse(Answer.parse(query.golden()).schema().isBlank(), query.name());
        }
    }

    @Test
    void unknownNamesAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> TpcdsQuery.named(List.of("q1", "q14")));
    }

    @Test
    void allTablesHaveASchemaThatSparkReads() {
        assertEquals(24, TpcdsSchema.tables().size());
        for (Table table : TpcdsSchema.tables()) {
            DataType.fromDDL(TpcdsSchema.ddl(table));
        }
    }
}
