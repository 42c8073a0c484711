/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Main class of a process that holds segments until it is killed: {@code <directory> <count> <bytes>}. */
public final class SegmentHolder {
    private SegmentHolder() {}

    /** Prints whether the files are anonymous, then waits for the end of its input. */
    public static void main(String[] arguments) throws IOException {
        SegmentFile.Factory files = new SegmentFile.Factory();
        List<SegmentFile> held = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(arguments[1]); i++) {
            held.add(files.create(Path.of(arguments[0]), Long.parseLong(arguments[2])));
        }
        System.out.println(files.anonymity().isAvailable() + " " + held.size());
        while (System.in.read() >= 0) {
            // Until it is killed or its parent ends.
        }
    }
}
