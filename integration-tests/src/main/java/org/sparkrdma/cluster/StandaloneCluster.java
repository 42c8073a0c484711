/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.cluster;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * A standalone cluster on this machine: a Master and Workers as processes of their own, with ports
 * that were free and directories under one folder. {@link #close} stops every process that carries
 * the cluster's mark, executors and drivers too, and deletes the folder.
 *
 * <pre>
 *   directory/cluster.properties     what another process needs to stop the cluster
 *   directory/log/                   stdout and stderr of Master, Workers and submitted drivers
 *   directory/worker-N/work/         one folder per application and executor, with its log
 *   directory/worker-N/local/        SPARK_LOCAL_DIRS of the Worker's executors
 *   directory/driver/local/          SPARK_LOCAL_DIRS of drivers
 * </pre>
 *
 * <p>Threading: {@link #submit} and the looking methods are safe from several threads; start and
 * close belong to one.
 */
public final class StandaloneCluster implements AutoCloseable {
    private static final String HOST = "127.0.0.1";
    private static final Duration START_LIMIT = Duration.ofSeconds(60);

    private final ClusterOptions options;
    private final String id;
    private final int masterPort;
    private final MasterStatus status;
    private final AtomicInteger submissions = new AtomicInteger();
    private PrivateShm shm;
    private Thread hook;

    private StandaloneCluster(ClusterOptions options) throws IOException {
        this.options = options;
        this.id = UUID.randomUUID().toString();
        try (ServerSocket master = freePort();
                ServerSocket page = freePort()) {
            this.masterPort = master.getLocalPort();
            this.status = new MasterStatus(HOST, page.getLocalPort());
        }
    }

    /** Why no cluster can be started from this folder, or empty when one can. */
    public static Optional<String> unavailabilityCause(Path sparkHome) {
        return Files.isRegularFile(sparkHome.resolve(".assembled"))
                ? Optional.empty()
                : Optional.of("no Spark in " + sparkHome + ": run bin/spark-dist");
    }

    /** Why {@link ClusterOptions#withPrivateShm} cannot be had on this machine, or empty when it can. */
    public static Optional<String> privateShmUnavailabilityCause() {
        return PrivateShm.unavailabilityCause();
    }

    /** Starts one and waits until all Workers have registered. A start that fails leaves nothing behind. */
    public static StandaloneCluster start(ClusterOptions options) throws IOException, InterruptedException {
        Optional<String> cause = unavailabilityCause(options.sparkHome());
        if (cause.isPresent()) {
            throw new IOException(cause.get());
        }
        StandaloneCluster cluster = new StandaloneCluster(options);
        cluster.hook = new Thread(cluster::stop, "stop-cluster");
        Runtime.getRuntime().addShutdownHook(cluster.hook);
        boolean started = false;
        try {
            cluster.launch();
            started = true;
        } finally {
            if (!started) {
                cluster.close();
            }
        }
        return cluster;
    }

    private void launch() throws IOException, InterruptedException {
        Files.createDirectories(options.directory().resolve("log"));
        Files.createDirectories(localDirectory("driver"));
        if (options.privateShm().isPresent()) {
            shm = PrivateShm.open(options.privateShm().get());
        }
        ClusterFile.write(options.directory(), id, masterUrl(), options.sparkHome());
        daemon(
                "master",
                ClusterJvm.Kind.MASTER,
                List.of(
                        "--host",
                        HOST,
                        "--port",
                        Integer.toString(masterPort),
                        "--webui-port",
                        Integer.toString(status.port())));
        status.await(masterUrl(), 0, START_LIMIT, this::masterLog);
        for (int i = 0; i < options.workers(); i++) {
            String name = "worker-" + i;
            Files.createDirectories(localDirectory(name));
            Path work = options.directory().resolve(name).resolve("work");
            daemon(
                    name,
                    ClusterJvm.Kind.WORKER,
                    List.of(
                            "--host",
                            HOST,
                            "--port",
                            "0",
                            "--webui-port",
                            "0",
                            "--cores",
                            Integer.toString(options.coresPerWorker()),
                            "--memory",
                            options.memoryPerWorker(),
                            "--work-dir",
                            work.toString(),
                            masterUrl()));
        }
        status.await(masterUrl(), options.workers(), START_LIMIT, this::masterLog);
    }

    private void daemon(String name, ClusterJvm.Kind kind, List<String> arguments) throws IOException {
        List<String> words = new ArrayList<>();
        words.add(kind.mainClass());
        words.addAll(arguments);
        Path log = options.directory().resolve("log").resolve(name + ".log");
        ProcessBuilder builder = process(name, "spark-class", words);
        builder.redirectErrorStream(true).redirectOutput(log.toFile());
        builder.redirectInput(Path.of("/dev/null").toFile());
        builder.start();
    }

    private ProcessBuilder process(String name, String script, List<String> arguments) {
        List<String> words = new ArrayList<>(shm == null ? List.of() : shm.prefix());
        words.add(options.sparkHome().resolve("bin").resolve(script).toString());
        words.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(words);
        Map<String, String> environment = builder.environment();
        environment.putAll(environment(name));
        environment.put("SPARK_DAEMON_MEMORY", "512m");
        return builder;
    }

    private Map<String, String> environment(String name) {
        java.util.TreeMap<String, String> all = new java.util.TreeMap<>(options.environment());
        all.put("SPARK_HOME", options.sparkHome().toString());
        all.put("SPARK_LOCAL_IP", HOST);
        all.put("SPARK_LOCAL_DIRS", localDirectory(name).toString());
        all.put(ClusterJvm.MARK, id);
        return all;
    }

    /** What a process needs in its environment to be a driver of this cluster, {@code SPARK_MASTER_URL} included. */
    public Map<String, String> driverEnvironment() {
        Map<String, String> all = environment("driver");
        all.put("SPARK_MASTER_URL", masterUrl());
        return all;
    }

    public String masterUrl() {
        return "spark://" + HOST + ":" + masterPort;
    }

    public Path directory() {
        return options.directory();
    }

    public Path sparkHome() {
        return options.sparkHome();
    }

    /** How many Workers the Master counts as alive. */
    public int aliveWorkers() throws IOException, InterruptedException {
        return status.aliveWorkers();
    }

    /** Starts spark-submit for an application and returns at once; see {@link Submission#send} for its stdin. */
    public Submission submit(Application application) throws IOException {
        String name = "driver-" + submissions.getAndIncrement();
        Path stdout = options.directory().resolve("log").resolve(name + ".out");
        Path stderr = options.directory().resolve("log").resolve(name + ".err");
        ProcessBuilder builder = process("driver", "spark-submit", application.commandLine(masterUrl()));
        builder.redirectOutput(stdout.toFile()).redirectError(stderr.toFile());
        return new Submission(application, builder.start(), stdout, stderr);
    }

    /** Submits an application and waits for its success; see {@link Submission#awaitSuccess}. */
    public Submission run(Application application) throws IOException, InterruptedException, TimeoutException {
        try (Submission submission = submit(application)) {
            return submission.awaitSuccess();
        }
    }

    /** All living processes of the cluster: Master, Workers, executors and drivers. */
    public List<ClusterJvm> jvms() {
        return ClusterJvm.find(id);
    }

    /** The living executors, by process id. */
    public List<ClusterJvm> executors() {
        return jvms(ClusterJvm.Kind.EXECUTOR);
    }

    public List<ClusterJvm> jvms(ClusterJvm.Kind kind) {
        return jvms().stream().filter(jvm -> jvm.kind() == kind).toList();
    }

    /** The {@code /dev/shm} that the cluster's processes see, as reached from this process. */
    public Path shmDirectory() {
        return shm == null ? Path.of("/dev/shm") : shm.directory();
    }

    /** What lies in {@link #shmDirectory} now: names relative to it, sorted. */
    public List<String> shmFiles() throws IOException {
        return filesUnder(shmDirectory());
    }

    /** The files of executors and drivers in their local directories now: names relative to the cluster's folder. */
    public List<String> localFiles() throws IOException {
        List<String> all = new ArrayList<>();
        try (Stream<Path> children = Files.list(options.directory())) {
            for (Path child : (Iterable<Path>) children::iterator) {
                Path local = child.resolve("local");
                if (Files.isDirectory(local)) {
                    filesUnder(local).forEach(file -> all.add(child.getFileName() + "/local/" + file));
                }
            }
        }
        all.sort(Comparator.naturalOrder());
        return all;
    }

    /** What all executors wrote to stderr so far, each under a line that names its file. */
    public String executorLogs() throws IOException {
        StringBuilder text = new StringBuilder();
        for (String file : filesUnder(options.directory())) {
            if (file.endsWith("/stderr")) {
                text.append("== ").append(file).append('\n');
                text.append(Files.readString(options.directory().resolve(file)));
            }
        }
        return text.toString();
    }

    private static List<String> filesUnder(Path root) throws IOException {
        List<String> names = new ArrayList<>();
        Files.walkFileTree(
                root, new ReadableFiles(file -> names.add(root.relativize(file).toString())));
        names.sort(Comparator.naturalOrder());
        return names;
    }

    private Path localDirectory(String name) {
        return options.directory().resolve(name).resolve("local");
    }

    private String masterLog() {
        try {
            return Submission.tail(
                    Files.readString(options.directory().resolve("log").resolve("master.log")), 20);
        } catch (IOException e) {
            return "(no log: " + e.getMessage() + ")";
        }
    }

    /** Stops every process of the cluster and deletes its folder; more than once does no harm. */
    @Override
    public void close() {
        stop();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The JVM is ending: the hook ran, or is what called this.
        }
    }

    /** Forgets the processes: they outlive this JVM until somebody stops them by {@code cluster.properties}. */
    void leaveRunning() {
        Runtime.getRuntime().removeShutdownHook(hook);
    }

    private synchronized void stop() {
        stopProcesses(id);
        if (shm != null) {
            shm.close();
        }
        if (!options.keepFiles()) {
            ClusterFile.deleteTree(options.directory());
        }
    }

    /** Asks all processes with this mark to end, and kills those that still run after ten seconds. */
    static void stopProcesses(String clusterId) {
        ClusterJvm.find(clusterId).forEach(ClusterJvm::terminate);
        if (!awaitNone(clusterId, 10)) {
            ClusterJvm.find(clusterId).forEach(ClusterJvm::kill);
            if (!awaitNone(clusterId, 10)) {
                throw new IllegalStateException("killed, but still there: " + ClusterJvm.find(clusterId));
            }
        }
    }

    private static boolean awaitNone(String clusterId, long seconds) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        boolean interrupted = false;
        while (!ClusterJvm.find(clusterId).isEmpty() && System.nanoTime() - end < 0) {
            try {
                TimeUnit.MILLISECONDS.sleep(50);
            } catch (InterruptedException e) {
                interrupted = true; // stopping goes on; the caller sees the interrupt afterwards
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return ClusterJvm.find(clusterId).isEmpty();
    }

    private static ServerSocket freePort() throws IOException {
        return new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    }
}
