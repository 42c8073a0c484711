/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.config;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.spark.network.util.JavaUtils;
import org.apache.spark.shuffle.rdma.config.ValueType.Refusal;

/** The kinds of values that settings take. Sizes and times are written and parsed as everywhere in Spark. */
final class ValueTypes {
    static final String AUTO = "auto";

    private ValueTypes() {}

    /** Bytes between two bounds, a power of two. */
    static ValueType<Long> powerOfTwoSize(String least, String most) {
        String range = between(least, most);
        return new ValueType<>("size", "bytes", least + " to " + most + ", a power of two", text -> {
            long size = size(text, "set it to a power of two " + range + ", such as 64m");
            checkRange(size, size(least), least, size(most), most);
            if (Long.bitCount(size) != 1) {
                throw new Refusal("is not a power of two", "set it to one " + range);
            }
            return size;
        });
    }

    /** Bytes of at least {@code least}, or {@code auto}: empty. */
    static ValueType<OptionalLong> sizeOrAuto(String least) {
        return new ValueType<>("size", "bytes", AUTO + ", or " + least + " and more", text -> {
            if (text.equals(AUTO)) {
                return OptionalLong.empty();
            }
            String remedy = "set it to " + AUTO + " or to at least " + least;
            long size = size(text, remedy + ", such as 512m or 2g");
            if (size < size(least)) {
                throw new Refusal("is below its least value " + least, remedy);
            }
            return OptionalLong.of(size);
        });
    }

    /** One of the names of an enum, in lower case. */
    static <E extends Enum<E>> ValueType<E> choice(Class<E> type) {
        String names = Arrays.stream(type.getEnumConstants())
                .map(choice -> choice.name().toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(", "));
        return new ValueType<>("name", "", names, text -> Arrays.stream(type.getEnumConstants())
                .filter(choice -> choice.name().toLowerCase(Locale.ROOT).equals(text))
                .findFirst()
                .orElseThrow(() -> new Refusal("is not one of " + names, "set it to one of them")));
    }

    /** A whole number between two bounds. */
    static ValueType<Integer> count(int least, int most) {
        return new ValueType<>("number", "", least + " to " + most, text -> {
            long number;
            try {
                number = Long.parseLong(text);
            } catch (NumberFormatException e) {
                throw new Refusal("is not a whole number", "set it between " + least + " and " + most);
            }
            checkRange(number, least, Integer.toString(least), most, Integer.toString(most));
            return (int) number;
        });
    }

    /** A span of time between two bounds. */
    static ValueType<Duration> time(String least, String most) {
        return new ValueType<>("time", "milliseconds", least + " to " + most, text -> {
            long millis = millis(text, "set it " + between(least, most) + ", such as 30s or 2min");
            checkRange(millis, millis(least), least, millis(most), most);
            return Duration.ofMillis(millis);
        });
    }

    /** Yes or no. */
    static ValueType<Boolean> flag() {
        return new ValueType<>("flag", "", "true or false", text -> switch (text) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new Refusal("is neither true nor false", "set it to true or false");
        });
    }

    /** One directory, by its absolute path; whether it exists is for its user to find out. */
    static ValueType<Path> directory(String example) {
        return new ValueType<>("directory", "", "an absolute path", text -> directory(text, text, example));
    }

    /** Directories separated by commas, possibly none. */
    static ValueType<List<Path>> directories(String example) {
        return new ValueType<>("directories", "", "absolute paths separated by commas, or empty", text -> {
            List<Path> directories = new ArrayList<>();
            for (String part : split(text)) {
                directories.add(directory(part, part.isEmpty() ? "an empty part" : part, example));
            }
            return List.copyOf(directories);
        });
    }

    /** Paths in order of preference, each at most once, {@code netty} at the end. */
    static ValueType<List<PathName>> paths() {
        return new ValueType<>("names", "", "names among " + PathName.all() + "; netty last", text -> {
            List<PathName> paths = new ArrayList<>();
            Set<PathName> seen = EnumSet.noneOf(PathName.class);
            for (String part : split(text)) {
                PathName path = PathName.of(part)
                        .orElseThrow(() ->
                                new Refusal("names the unknown path '" + part + "'", "choose among " + PathName.all()));
                if (!seen.add(path)) {
                    throw new Refusal("names " + part + " twice", "name each path once");
                }
                paths.add(path);
            }
            if (paths.isEmpty() || paths.get(paths.size() - 1) != PathName.NETTY) {
                throw new Refusal(
                        "does not end with netty, the fallback that never fails where Spark's own transfer would not",
                        "put netty last");
            }
            return List.copyOf(paths);
        });
    }

    private static List<String> split(String text) {
        return text.isEmpty()
                ? List.of()
                : Arrays.stream(text.split(",", -1)).map(String::trim).toList();
    }

    private static Path directory(String text, String shown, String example) throws Refusal {
        String remedy = "give the full path of a directory, such as " + example;
        try {
            Path path = Path.of(text);
            if (path.isAbsolute()) {
                return path.normalize();
            }
        } catch (InvalidPathException e) {
            throw new Refusal("holds what no path may hold (" + e.getReason() + ")", remedy);
        }
        throw new Refusal("is not absolute in " + shown, remedy);
    }

    private static void checkRange(long value, long least, String leastText, long most, String mostText)
            throws Refusal {
        String remedy = "set it " + between(leastText, mostText);
        if (value < least) {
            throw new Refusal("is below its least value " + leastText, remedy);
        }
        if (value > most) {
            throw new Refusal("is above its greatest value " + mostText, remedy);
        }
    }

    private static String between(String least, String most) {
        return "between " + least + " and " + most;
    }

    private static long size(String text, String remedy) throws Refusal {
        try {
            return size(text);
        } catch (IllegalArgumentException e) {
            throw new Refusal("is not a size", remedy);
        }
    }

    private static long size(String text) {
        return JavaUtils.byteStringAsBytes(text);
    }

    private static long millis(String text, String remedy) throws Refusal {
        try {
            return millis(text);
        } catch (IllegalArgumentException e) {
            throw new Refusal("is not a time", remedy);
        }
    }

    private static long millis(String text) {
        return JavaUtils.timeStringAsMs(text);
    }
}
