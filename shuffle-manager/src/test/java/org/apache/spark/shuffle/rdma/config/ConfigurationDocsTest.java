/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigurationDocsTest {
    @Test
    void thePageIsUpToDate() throws IOException {
        assertEquals(
                ConfigurationDocs.markdown(),
                Files.readString(ProjectFiles.file("docs/configuration.md")),
                "docs/configuration.md does not match RdmaShuffleConf: run bin/gen-docs and commit the result");
    }

    @Test
    void everyKeyHasItsLine() {
        for (ConfigKey<?> key : RdmaShuffleConf.keys()) {
            assertTrue(ConfigurationDocs.markdown().contains("\n| `" + key.name() + "` | "), key.name());
        }
    }

    @Test
    void mainWritesThePage(@TempDir Path dir) throws IOException {
        Path file = dir.resolve("page.md");
        ConfigurationDocs.main(new String[] {file.toString()});
        assertEquals(ConfigurationDocs.markdown(), Files.readString(file));
    }
}
