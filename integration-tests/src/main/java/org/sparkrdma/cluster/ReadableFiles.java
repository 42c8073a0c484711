/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.cluster;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.function.Consumer;

/** Visits the files of a tree that others change at the same time: what vanished is passed over. */
final class ReadableFiles extends SimpleFileVisitor<Path> {
    private final Consumer<Path> visitor;

    ReadableFiles(Consumer<Path> visitor) {
        this.visitor = visitor;
    }

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
        visitor.accept(file);
        return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException failure) {
        return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path directory, IOException failure) {
        return FileVisitResult.CONTINUE;
    }
}
