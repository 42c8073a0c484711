/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The jar carries its own licence and those of what it bundles. */
class LicensesTest {
    private static final String RESOURCES = "shuffle-manager/src/main/resources/META-INF/";

    @ParameterizedTest
    @ValueSource(strings = {"LICENSE", "NOTICE"})
    void theJarsFilesAreTheProjects(String file) throws IOException {
        assertEquals(
                Files.readString(ProjectFiles.file(file)),
                Files.readString(ProjectFiles.file(RESOURCES + file)),
                "copy " + file + " to " + RESOURCES);
    }

    @Test
    void theNoticeNamesEveryBundledLicence() throws IOException {
        String notice = Files.readString(ProjectFiles.file("NOTICE"));
        List<String> licences;
        try (Stream<Path> files = Files.list(ProjectFiles.file(RESOURCES + "licenses"))) {
            licences = files.map(file -> "licenses/" + file.getFileName()).toList();
        }
        assertEquals(5, licences.size());
        for (String licence : licences) {
            assertTrue(notice.contains(licence), licence + " is not named in NOTICE");
        }
    }
}
