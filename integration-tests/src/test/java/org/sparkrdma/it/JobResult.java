/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.sparkrdma.cluster.Submission;
import org.sparkrdma.workloads.shuffle.ShuffleAnswer;

/** The line of JSON that a ShuffleJob printed. */
record JobResult(String line, Map<String, Long> numbers) {
    private static final Pattern NUMBER = Pattern.compile("\"(\\w+)\":(-?\\d+)");

    static JobResult of(Submission ended) {
        String line = ended.output()
                .lines()
                .filter(text -> text.startsWith("{\"rows\":"))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no answer in " + ended.output() + ended.errors()));
        Map<String, Long> numbers = new HashMap<>();
        Matcher matcher = NUMBER.matcher(line);
        while (matcher.find()) {
            numbers.put(matcher.group(1), Long.parseLong(matcher.group(2)));
        }
        return new JobResult(line, numbers);
    }

    long get(String name) {
        return numbers.getOrDefault(name, 0L);
    }

    /** The answer is the right one for so many shuffles of so many rows. */
    JobResult assertAnswer(long rows, int shuffles) {
        ShuffleAnswer one = ShuffleAnswer.expected(rows);
        ShuffleAnswer right =
                new ShuffleAnswer(rows * shuffles, one.sum() * shuffles, shuffles % 2 == 0 ? 0 : one.mix(), 0);
        assertEquals(right, new ShuffleAnswer(get("rows"), get("sum"), get("mix"), get("damaged")), line);
        return this;
    }

    JobResult assertAnswer(long rows) {
        return assertAnswer(rows, 1);
    }
}
