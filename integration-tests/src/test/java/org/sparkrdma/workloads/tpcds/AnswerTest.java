/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.tpcds;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.sql.Date;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

class AnswerTest {
    private static final String SCHEMA = "struct<k:int,d:double>";

    @Test
    void textIsThatOfTheGoldenFiles() {
        StructType schema = (StructType) DataType.fromDDL("a int, b decimal(7,2), c string, d date, e double");
        Row row = RowFactory.create(1, new BigDecimal("1.50"), "x #12", Date.valueOf("1999-02-28"), null);
        Answer answer = Answer.of(schema, List.of(row));
        assertEquals("struct<a:int,b:decimal(7,2),c:string,d:date,e:double>", answer.schema());
        assertEquals(List.of("1\t1.50\tx #12\t1999-02-28\tNULL"), answer.rows());
        assertEquals(List.of("1\t1.50\tx #x\t1999-02-28\tNULL"), answer.masked().rows());
    }

    @Test
    void whatIsFormattedIsParsedAgain() {
        Answer answer = new Answer(SCHEMA, List.of("1\t2.5", "3\tNULL"));
        assertEquals(answer, Answer.parse("-- Automatically generated\n\n" + answer.format()));
        Answer empty = new Answer(SCHEMA, List.of());
        assertEquals(empty, Answer.parse(empty.format()));
    }

    @Test
    void typesAreFoundBehindNamesThatAreExpressions() {
        Answer answer = new Answer("struct<round((a / b), 2):decimal(20,2),avg(x):double,c:string>", List.of());
        assertEquals(List.of("decimal(20,2)", "double", "string"), answer.types());
    }

    @Test
    void orderAndLastDigitsOfDoublesDoNotMatter() {
        Answer one = new Answer(SCHEMA, List.of("1\t0.30000000000000004", "2\tNULL"));
        Answer other = new Answer(SCHEMA, List.of("2\tNULL", "1\t0.3"));
        assertEquals(Optional.empty(), one.differenceFrom(other));
    }

    @Test
    void everythingElseMatters() {
        Answer expected = new Answer(SCHEMA, List.of("1\t0.5", "1\t0.5", "2\t1.0"));
        assertDiffers(expected, new Answer("struct<k:bigint,d:double>", expected.rows()), "schema");
        assertDiffers(expected, new Answer(SCHEMA, List.of("1\t0.5", "2\t1.0")), "2 rows instead of 3");
        assertDiffers(expected, new Answer(SCHEMA, List.of("1\t0.5", "2\t1.0", "2\t1.0")), "sorted row 1");
        assertDiffers(expected, new Answer(SCHEMA, List.of("1\t0.5", "1\t0.5", "2\t1.00000001")), "sorted row 2");
    }

    private static void assertDiffers(Answer expected, Answer actual, String message) {
        String difference = actual.differenceFrom(expected).orElse("");
        assertTrue(difference.contains(message), difference);
    }
}
