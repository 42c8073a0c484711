/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.tools;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Function;

/** What a reader of figures wants to know of the machine they were measured on. */
final class Machine {
    private Machine() {}

    static String describe() {
        String cpu = find("/proc/cpuinfo", "model name", Function.identity());
        String memory =
                find("/proc/meminfo", "MemTotal", text -> (Long.parseLong(text.replaceAll("\\D", "")) >> 20) + " GiB");
        return Runtime.getRuntime().availableProcessors() + " cores (" + cpu + "), " + memory + ", Java "
                + Runtime.version().feature();
    }

    private static String find(String file, String key, Function<String, String> read) {
        try {
            return Files.readAllLines(Path.of(file)).stream()
                    .filter(line -> line.startsWith(key))
                    .map(line ->
                            read.apply(line.substring(line.indexOf(':') + 1).strip()))
                    .findFirst()
                    .orElse("unknown");
        } catch (IOException e) {
            return "unknown";
        }
    }
}
