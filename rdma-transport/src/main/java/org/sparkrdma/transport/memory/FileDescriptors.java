/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

import java.io.FileDescriptor;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.sparkrdma.transport.api.Availability;

/**
 * The descriptor number behind an open channel, by which a peer of the same user finds a file that has no name. Needs
 * {@code java.base/sun.nio.ch} and {@code java.base/java.io} opened, which Spark does for its driver and executors.
 */
final class FileDescriptors {
    private final Field channelDescriptor;
    private final Field number;
    private final Availability availability;

    /** Probes once. */
    FileDescriptors() {
        Field ofChannel = null;
        Field ofDescriptor = null;
        Availability answer = Availability.AVAILABLE;
        try {
            ofChannel = Class.forName("sun.nio.ch.FileChannelImpl").getDeclaredField("fd");
            ofChannel.setAccessible(true);
            ofDescriptor = FileDescriptor.class.getDeclaredField("fd");
            ofDescriptor.setAccessible(true);
            if (!Files.isDirectory(Path.of("/proc/self/fd"))) {
                answer = Availability.unavailable("this system has no /proc/self/fd");
            }
        } catch (ReflectiveOperationException | RuntimeException e) {
            answer = Availability.unavailable("the JVM does not open java.base/sun.nio.ch and java.base/java.io to "
                    + "this plugin (Spark's launcher passes --add-opens for both): " + e.getMessage());
        }
        channelDescriptor = ofChannel;
        number = ofDescriptor;
        availability = answer;
    }

    Availability availability() {
        return availability;
    }

    int numberOf(FileChannel channel) throws IOException {
        try {
            return number.getInt(channelDescriptor.get(channel));
        } catch (IllegalAccessException e) {
            throw new IOException("cannot read the descriptor number of an open file", e);
        }
    }
}
