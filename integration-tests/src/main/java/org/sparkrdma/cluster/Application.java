/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.cluster;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What to hand to spark-submit. Immutable; the {@code with} methods copy.
 *
 * @param mainClass the main class
 * @param jar the jar that holds it
 * @param arguments its arguments
 * @param conf Spark's configuration, key to value
 * @param options further options of spark-submit, such as {@code --driver-memory}, {@code 2g}
 * @param limit how long it may take before it is killed
 */
public record Application(
        String mainClass,
        Path jar,
        List<String> arguments,
        Map<String, String> conf,
        List<String> options,
        Duration limit) {

    public Application {
        arguments = List.copyOf(arguments);
        conf = new LinkedHashMap<>(conf);
        options = List.copyOf(options);
    }

    public static Application of(String mainClass, Path jar, String... arguments) {
        return new Application(mainClass, jar, List.of(arguments), Map.of(), List.of(), Duration.ofMinutes(5));
    }

    public Application withConf(String key, String value) {
        return withConf(Map.of(key, value));
    }

    public Application withConf(Map<String, String> more) {
        Map<String, String> all = new LinkedHashMap<>(conf);
        all.putAll(more);
        return new Application(mainClass, jar, arguments, all, options, limit);
    }

    public Application withArguments(List<String> newArguments) {
        return new Application(mainClass, jar, newArguments, conf, options, limit);
    }

    public Application withOptions(String... more) {
        List<String> all = new ArrayList<>(options);
        all.addAll(List.of(more));
        return new Application(mainClass, jar, arguments, conf, all, limit);
    }

    public Application withLimit(Duration newLimit) {
        return new Application(mainClass, jar, arguments, conf, options, newLimit);
    }

    /** The words of the command line after {@code spark-submit}. */
    public List<String> commandLine(String master) {
        List<String> words = new ArrayList<>(List.of("--master", master, "--class", mainClass));
        conf.forEach((key, value) -> words.addAll(List.of("--conf", key + "=" + value)));
        words.addAll(options);
        words.add(jar.toString());
        words.addAll(arguments);
        return words;
    }
}
