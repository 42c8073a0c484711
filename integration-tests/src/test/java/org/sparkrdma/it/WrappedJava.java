/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.it;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.sparkrdma.cluster.Application;

/** Folders that pass for a JDK and whose java is a script before the real one: executors that start in another way. */
final class WrappedJava {
    private static final String JAVA = System.getProperty("java.home") + "/bin/java";

    private WrappedJava() {}

    /** Each executor in a process-id namespace of its own; skips the test, saying why, where that is not allowed. */
    static Application inProcessNamespace(Application application, Path folder) throws Exception {
        int probe = new ProcessBuilder("unshare", "--pid", "--fork", "--mount-proc", "true")
                .redirectErrorStream(true)
                .start()
                .waitFor();
        assumeTrue(probe == 0, "no process-id namespace: it takes root");
        return with(application, folder, "exec unshare --pid --fork --kill-child --mount-proc " + JAVA + " \"$@\"");
    }

    /**
     * Executor N takes part under the loopback address 127.0.0.(N + 1). Spark starts no speculative copy of a task on
     * the host that runs the task already.
     */
    static Application hostPerExecutor(Application application, Path folder) throws IOException {
        return with(application, folder, """
                words=("$@")
                for ((i = 0; i < $#; i++)); do
                  if [ "${words[i]}" = --executor-id ]; then id=${words[i + 1]}; fi
                done
                for ((i = 0; i < $#; i++)); do
                  if [ "${words[i]}" = --hostname ]; then words[i + 1]=127.0.0.$((id + 1)); fi
                done
                exec %s "${words[@]}"
                """.formatted(JAVA));
    }

    private static Application with(Application application, Path folder, String script) throws IOException {
        Path home = Files.createTempDirectory(folder, "jdk");
        Path java = Files.createDirectory(home.resolve("bin")).resolve("java");
        Files.writeString(java, "#!/usr/bin/env bash\n" + script + "\n");
        Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));
        return application.withConf("spark.executorEnv.JAVA_HOME", home.toString());
    }
}
