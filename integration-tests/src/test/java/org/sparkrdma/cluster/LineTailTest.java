/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.cluster;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LineTailTest {
    @TempDir
    Path folder;

    @Test
    void returnsWholeLinesOnce() throws IOException {
        Path file = folder.resolve("out");
        Files.writeString(file, "one\ntw");
        LineTail tail = new LineTail(file);
        assertEquals(Optional.of("one"), tail.next());
        assertEquals(Optional.empty(), tail.next());
        Files.writeString(file, "o\n\nthree\n", CREATE, APPEND);
        assertEquals(Optional.of("two"), tail.next());
        assertEquals(Optional.of(""), tail.next());
        assertEquals(Optional.of("three"), tail.next());
        assertEquals(Optional.empty(), tail.next());
    }
}
