/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.contract;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.sparkrdma.transport.api.HostIdentity;
import org.sparkrdma.transport.api.PeerEndpoint;
import org.sparkrdma.transport.api.PeerEndpoint.Token;
import org.sparkrdma.transport.api.ProcessIdentity;
import org.sparkrdma.transport.memory.Extent;
import org.sparkrdma.transport.memory.MemoryGuard;
import org.sparkrdma.transport.memory.SegmentFile;
import org.sparkrdma.transport.memory.Slab;
import org.sparkrdma.transport.memory.SlabListener;
import org.sparkrdma.transport.memory.SlabPool;
import org.sparkrdma.transport.memory.SlabPoolOptions;
import org.sparkrdma.transport.wire.DirectoryEntryLayout;
import org.sparkrdma.transport.wire.DirectoryEntryLayout.Entry;
import org.sparkrdma.transport.wire.DirectoryLayout;
import org.sparkrdma.transport.wire.EndpointCodec;
import org.sparkrdma.transport.wire.SlabTableLayout;

/**
 * Main class of a peer that is read: {@code <memory directory> <overflow directory>}. It prints its endpoint in hex,
 * then answers each line it is sent with a line. Of its slabs of {@link #SLAB} bytes two are in shared memory, and
 * extents do not rest before they are used again.
 */
public final class TestPeer {
    static final long SLAB = 1 << 20;

    private final SegmentFile.Factory files = new SegmentFile.Factory();
    private final SegmentFile directory;
    private final Path scratch;
    private final SlabPool pool;
    private final List<Extent> extents = new ArrayList<>();
    private volatile boolean isBusy;
    private Thread background;

    private TestPeer(Path memory, Path overflow) throws IOException {
        directory = files.create(memory, DirectoryLayout.REGION_BYTES);
        scratch = overflow;
        pool = new SlabPool(
                new SlabPoolOptions(
                        2 * SLAB,
                        SLAB,
                        0,
                        Optional.of(memory),
                        List.of(overflow),
                        SLAB,
                        Duration.ZERO,
                        Duration.ofDays(1),
                        64,
                        false),
                files,
                System::nanoTime,
                MemoryGuard.NONE,
                new Publisher());
    }

    /** Obeys until its input ends. */
    public static void main(String[] arguments) throws Exception {
        TestPeer peer = new TestPeer(Path.of(arguments[0]), Path.of(arguments[1]));
        Token token = Token.random();
        DirectoryLayout.initialize(peer.directory.memory(), token);
        System.out.println(HexFormat.of()
                .formatHex(EndpointCodec.encode(new PeerEndpoint(
                        "7", HostIdentity.current(), ProcessIdentity.current(), peer.directory.shared(), token))));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            System.out.println(peer.obey(line.split(" ", -1)));
        }
        System.exit(0);
    }

    /** The byte at a place of an extent that was filled with a seed. */
    static byte byteAt(int seed, long at) {
        return (byte) (seed * 101L + at * 7 + (at >>> 9));
    }

    /** What files hold that are no slabs. */
    static byte[] alien(int length) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) 0xEE);
        return bytes;
    }

    /** The entry that is published for a map. */
    static Entry entryOf(long map) {
        int mixed = Long.hashCode(map * 0x9E37_79B9_7F4A_7C15L) & Integer.MAX_VALUE;
        return new Entry(3, map, mixed, mixed >>> 8, mixed >>> 20, mixed * 3L, mixed >>> 3, mixed * 5L, map % 2 == 0);
    }

    private String obey(String[] words) throws Exception {
        ByteBuffer region = directory.memory().order(ByteOrder.LITTLE_ENDIAN);
        switch (words[0]) {
            case "allocate" -> {
                return allocate(Long.parseLong(words[1]), Integer.parseInt(words[2]));
            }
            case "free" -> pool.free(extents.get(Integer.parseInt(words[1])));
            case "maintain" -> pool.maintain();
            case "close" -> DirectoryLayout.close(region);
            case "version" -> region.putInt(8, 2);
            case "garbage" -> {
                for (int at = 0; at < 64; at++) {
                    region.put(at, (byte) (at * 37 + 11));
                }
            }
            case "churn" -> start(this::churn);
            case "publish" -> start(this::publish);
            case "rest" -> {
                isBusy = false;
                background.join();
            }
            default -> throw new IllegalArgumentException(words[0]);
        }
        return "done";
    }

    /** Answers: number of the extent, slab, offset, length, whether overflow, descriptor. */
    private String allocate(long bytes, int seed) throws IOException {
        Extent extent = pool.allocate(bytes);
        fill(extent, seed);
        extents.add(extent);
        Slab slab = extent.slab();
        return (extents.size() - 1) + " " + slab.id() + " " + extent.offset() + " " + extent.length() + " "
                + slab.isOverflow() + " " + slab.file().descriptor();
    }

    private static void fill(Extent extent, int seed) {
        ByteBuffer memory = extent.view();
        for (int at = 0; at < extent.length(); at++) {
            memory.put(at, byteAt(seed, at));
        }
    }

    private void start(Runnable work) {
        isBusy = true;
        background = new Thread(work);
        background.start();
    }

    /** Overflow slabs come and go, and so do other files, which get the descriptor numbers of the slabs. */
    private void churn() {
        Path file = scratch.resolve("alien");
        try {
            Files.write(file, alien((int) SLAB));
            while (isBusy) {
                Extent extent = pool.allocate(SLAB);
                fill(extent, 1); // Which takes long enough for readers to find the slab.
                pool.free(extent);
                pool.maintain();
                try (var first = Files.newByteChannel(file);
                        var second = Files.newByteChannel(file)) {
                    first.size();
                    second.size();
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Entries come and go in the first bucket; the second bucket keeps one. */
    private void publish() {
        ByteBuffer region = directory.memory();
        int bucket = DirectoryLayout.FIRST_SEGMENT_OFFSET;
        DirectoryEntryLayout.write(region, bucket + DirectoryLayout.BUCKET_BYTES, entryOf(-1));
        for (long map = 0; isBusy; map++) {
            int at = bucket + (int) (map % 2) * DirectoryEntryLayout.BYTES;
            DirectoryEntryLayout.write(region, at, entryOf(map));
            DirectoryEntryLayout.clear(region, at);
        }
    }

    private final class Publisher implements SlabListener {
        @Override
        public void slabOpened(Slab slab) {
            SlabTableLayout.write(
                    directory.memory(),
                    new SlabTableLayout.SlabEntry(
                            slab.id(),
                            slab.isOverflow(),
                            slab.file().descriptor(),
                            slab.length(),
                            slab.generation(),
                            slab.sequence()));
        }

        @Override
        public void slabClosed(Slab slab) {
            SlabTableLayout.clear(directory.memory(), slab.id());
        }
    }
}
