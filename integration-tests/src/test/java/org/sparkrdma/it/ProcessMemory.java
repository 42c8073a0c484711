/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.it;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What the kernel says of another process of this user: its slabs, descriptors, mappings and memory.
 *
 * @param pid its process id
 */
record ProcessMemory(long pid) {
    private static final Pattern SEGMENT = Pattern.compile(".*/spark-rdma-shuffle-[\\d-]+-(\\d+)( \\(deleted\\))?");
    private static final int PAGE = 4096;

    /** Descriptors of its segment files; the first that an executor makes is its directory. */
    private List<Path> segments(boolean isDirectory) throws IOException {
        List<Path> found = new ArrayList<>();
        for (Path descriptor : descriptors()) {
            var segment = SEGMENT.matcher(target(descriptor));
            if (segment.matches() && segment.group(1).equals("0") == isDirectory) {
                found.add(descriptor);
            }
        }
        return found;
    }

    /** Its slabs, without the directory of map outputs. */
    List<Path> slabs() throws IOException {
        return segments(false);
    }

    /** Bytes of its slabs. */
    long slabBytes() throws IOException {
        long sum = 0;
        for (Path slab : slabs()) {
            sum += Files.size(slab);
        }
        return sum;
    }

    /** Changes one byte in every page of its slabs that holds anything; answers how many. */
    long damageSlabs() throws IOException {
        return damage(slabs());
    }

    /** The same in its directory of map outputs. */
    long damageDirectory() throws IOException {
        return damage(segments(true));
    }

    private static long damage(List<Path> segments) throws IOException {
        long damaged = 0;
        for (Path segment : segments) {
            try (FileChannel file = FileChannel.open(segment, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                ByteBuffer page = ByteBuffer.allocate(PAGE);
                for (long at = 0; at < file.size(); at += PAGE) {
                    file.read(page.clear(), at);
                    int used = lastUsed(page.array());
                    if (used >= 0) {
                        byte flipped = (byte) (page.get(used / 2) ^ 0x10);
                        file.write(ByteBuffer.wrap(new byte[] {flipped}), at + used / 2);
                        damaged++;
                    }
                }
            }
        }
        return damaged;
    }

    private static int lastUsed(byte[] page) {
        int last = page.length - 1;
        while (last >= 0 && page[last] == 0) {
            last--;
        }
        return last;
    }

    int descriptorCount() throws IOException {
        return descriptors().size();
    }

    /** Its mappings of segment files, its own and its peers'. */
    long segmentMappings() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/" + pid + "/maps"))) {
            return lines.filter(line -> line.contains("/spark-rdma-shuffle-")).count();
        }
    }

    /** A line of its status, such as VmHWM, the most memory it ever had, in bytes. */
    long statusBytes(String name) throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/" + pid + "/status"))) {
            return lines.filter(line -> line.startsWith(name + ":"))
                            .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                            .findFirst()
                            .orElseThrow()
                    << 10;
        }
    }

    private List<Path> descriptors() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/" + pid + "/fd"))) {
            return all.toList();
        }
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            return ""; // closed meanwhile
        }
    }
}
