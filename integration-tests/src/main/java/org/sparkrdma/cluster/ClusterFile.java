/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.cluster;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;

/** {@code cluster.properties} in a cluster's folder: what a later process needs to look at it and to stop it. */
record ClusterFile(String id, String masterUrl, Path sparkHome) {
    static final String NAME = "cluster.properties";

    static void write(Path directory, String id, String masterUrl, Path sparkHome) throws IOException {
        Properties properties = new Properties();
        properties.setProperty("id", id);
        properties.setProperty("master.url", masterUrl);
        properties.setProperty("spark.home", sparkHome.toString());
        try (Writer writer = Files.newBufferedWriter(directory.resolve(NAME))) {
            properties.store(writer, null);
        }
    }

    static ClusterFile read(Path directory) throws IOException {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(directory.resolve(NAME))) {
            properties.load(reader);
        } catch (NoSuchFileException e) {
            throw new IOException("no cluster in " + directory, e);
        }
        return new ClusterFile(
                properties.getProperty("id"),
                properties.getProperty("master.url"),
                Path.of(properties.getProperty("spark.home")));
    }

    static void deleteTree(Path directory) {
        if (!Files.exists(directory)) {
            return;
        }
        List<Path> all;
        try (Stream<Path> tree = Files.walk(directory)) {
            all = tree.sorted(Comparator.reverseOrder()).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        for (Path path : all) {
            try {
                Files.deleteIfExists(path);
            } catch (IOException e) {
                throw new UncheckedIOException("cannot delete " + path, e);
            }
        }
    }
}
