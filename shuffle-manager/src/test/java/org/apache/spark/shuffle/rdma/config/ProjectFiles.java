/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.config;

import java.nio.file.Files;
import java.nio.file.Path;

/** Finds files of the project that lie outside this module, from wherever the tests were started. */
final class ProjectFiles {
    private ProjectFiles() {}

    /** A file by its path from the project's root. */
    static Path file(String path) {
        Path start = Path.of("").toAbsolutePath();
        for (Path dir = start; dir != null; dir = dir.getParent()) {
            if (Files.isDirectory(dir.resolve("shuffle-manager")) && Files.isRegularFile(dir.resolve("pom.xml"))) {
                return dir.resolve(path);
            }
        }
        throw new IllegalStateException("no directory above " + start + " is the project's root");
    }
}
