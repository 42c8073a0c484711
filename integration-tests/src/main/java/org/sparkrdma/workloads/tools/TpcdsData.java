/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.tools;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.sparkrdma.workloads.tpcds.GenerateTpcds;

/**
 * TPC-DS data on disk, made once per scale. Data is generated beside its final place and moved
 * there when it is complete, so that what is found there is whole.
 */
final class TpcdsData {
    private static final String STAMP = "_COMPLETE";
    private static final int CHUNKS = 4;

    private TpcdsData() {}

    /** The folder of this scale; generates the data by spark-submit first when it is not there. */
    static Path ensure(Workspace workspace, BigDecimal scale) throws IOException, InterruptedException {
        String name = scale.stripTrailingZeros().toPlainString();
        Path folder = workspace.tpcdsData(name);
        String stamp = "scale " + name + ", " + GenerateTpcds.VERSION + "\n";
        Path stampFile = folder.resolve(STAMP);
        if (Files.exists(stampFile) && Files.readString(stampFile).equals(stamp)) {
            return folder;
        }
        System.err.println("generating TPC-DS data of scale " + name + " in " + folder);
        long start = System.nanoTime();
        Path work = folder.resolveSibling(folder.getFileName() + ".incomplete");
        deleteTree(work);
        deleteTree(folder);
        Files.createDirectories(work.getParent());
        List<String> command = List.of(
                workspace.sparkHome().resolve("bin/spark-submit").toString(),
                "--master",
                "local[*]",
                "--driver-memory",
                "3g",
                "--class",
                GenerateTpcds.class.getName(),
                workspace.workloadsJar().toString(),
                name,
                work.toString(),
                Integer.toString(CHUNKS));
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().put("SPARK_LOCAL_IP", "127.0.0.1");
        builder.environment().put("SPARK_HOME", workspace.sparkHome().toString());
        Process process = builder.start();
        Thread hook = new Thread(process::destroy, "stop-generator");
        Runtime.getRuntime().addShutdownHook(hook);
        int code = process.waitFor();
        Runtime.getRuntime().removeShutdownHook(hook);
        if (code != 0) {
            throw new IOException("the generator ended with code " + code + "; see above");
        }
        Files.writeString(work.resolve(STAMP), stamp);
        Files.move(work, folder, StandardCopyOption.ATOMIC_MOVE);
        System.err.printf("generated in %.0f s%n", (System.nanoTime() - start) / 1e9);
        return folder;
    }

    private static void deleteTree(Path folder) throws IOException {
        if (Files.exists(folder)) {
            List<Path> all;
            try (Stream<Path> tree = Files.walk(folder)) {
                all = tree.sorted(Comparator.reverseOrder()).toList();
            }
            for (Path path : all) {
                Files.delete(path);
            }
        }
    }
}
