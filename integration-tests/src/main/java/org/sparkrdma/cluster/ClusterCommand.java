/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code bin/cluster}: a standalone cluster from the command line. */
@Command(
        name = "cluster",
        description = "A standalone cluster on this machine: a Master and Workers as processes of their own.",
        mixinStandardHelpOptions = true,
        subcommands = {
            ClusterCommand.Run.class,
            ClusterCommand.Start.class,
            ClusterCommand.Stop.class,
            ClusterCommand.Status.class
        })
public final class ClusterCommand {
    private ClusterCommand() {}

    public static void main(String[] args) {
        CommandLine line = new CommandLine(new ClusterCommand());
        line.setExecutionExceptionHandler((failure, command, parsed) -> {
            System.err.println("error: " + failure.getMessage());
            return 1;
        });
        System.exit(line.execute(args));
    }

    static final class Size {
        @Option(names = "--workers", defaultValue = "2", description = "Workers (default: ${DEFAULT-VALUE})")
        int workers;

        @Option(names = "--cores", defaultValue = "1", description = "cores of each Worker (default: ${DEFAULT-VALUE})")
        int cores;

        @Option(
                names = "--memory",
                defaultValue = "2g",
                description = "memory of each Worker (default: ${DEFAULT-VALUE})")
        String memory;

        @Option(names = "--dir", defaultValue = "${sys:cluster.dir}", description = "the cluster's folder")
        Path directory;

        @Option(
                names = "--shm-size",
                description = "give the cluster a /dev/shm of its own of this size, such as 64m (needs root)")
        String shm;

        @Option(names = "--keep-files", description = "leave the folder when the cluster stops")
        boolean keep;

        ClusterOptions options() {
            ClusterOptions options = ClusterOptions.of(Path.of(System.getProperty("spark.dist")), directory)
                    .withWorkers(workers, cores, memory)
                    .withKeepFiles(keep);
            return shm == null ? options : options.withPrivateShm(shm);
        }
    }

    @Command(
            name = "run",
            description = "Start a cluster, run a command with SPARK_MASTER_URL and SPARK_HOME set, stop the cluster.",
            mixinStandardHelpOptions = true)
    static final class Run implements Callable<Integer> {
        @Mixin
        Size size;

        @Parameters(arity = "1..*", paramLabel = "COMMAND", description = "after --: the command and its arguments")
        List<String> command;

        @Override
        public Integer call() throws IOException, InterruptedException {
            try (StandaloneCluster cluster = StandaloneCluster.start(size.options())) {
                ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
                builder.environment().putAll(cluster.driverEnvironment());
                return builder.start().waitFor();
            }
        }
    }

    @Command(name = "start", description = "Start a cluster and leave it running.", mixinStandardHelpOptions = true)
    static final class Start implements Callable<Integer> {
        @Mixin
        Size size;

        @Override
        public Integer call() throws IOException, InterruptedException {
            if (Files.exists(size.directory.resolve(ClusterFile.NAME))) {
                System.err.println("there is a cluster in " + size.directory + " already: stop it first");
                return 1;
            }
            if (size.shm != null) {
                System.err.println("--shm-size goes with run only: the mount ends with this process");
                return 2;
            }
            StandaloneCluster cluster = StandaloneCluster.start(size.options());
            cluster.leaveRunning();
            System.out.println(cluster.masterUrl());
            return 0;
        }
    }

    @Command(
            name = "stop",
            description = "Stop the cluster in a folder and delete the folder.",
            mixinStandardHelpOptions = true)
    static final class Stop implements Callable<Integer> {
        @Option(names = "--dir", defaultValue = "${sys:cluster.dir}", description = "the cluster's folder")
        Path directory;

        @Override
        public Integer call() throws IOException {
            StandaloneCluster.stopProcesses(ClusterFile.read(directory).id());
            ClusterFile.deleteTree(directory);
            return 0;
        }
    }

    @Command(name = "status", description = "List a cluster's processes.", mixinStandardHelpOptions = true)
    static final class Status implements Callable<Integer> {
        @Option(names = "--dir", defaultValue = "${sys:cluster.dir}", description = "the cluster's folder")
        Path directory;

        @Override
        public Integer call() throws IOException {
            ClusterFile file = ClusterFile.read(directory);
            System.out.println("master " + file.masterUrl() + "  spark " + file.sparkHome());
            List<ClusterJvm> jvms = ClusterJvm.find(file.id());
            jvms.forEach(jvm -> System.out.printf(
                    "%8d  %-8s %s%n",
                    jvm.pid(), jvm.kind(), jvm.option("--executor-id").orElse("")));
            return jvms.stream().anyMatch(jvm -> jvm.kind() == ClusterJvm.Kind.MASTER) ? 0 : 1;
        }
    }
}
