/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.function.Consumer;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog.MapOutputId;
import org.apache.spark.shuffle.rdma.config.RdmaShuffleConf;
import org.apache.spark.shuffle.rdma.metrics.ExecutorReport;
import org.apache.spark.shuffle.rdma.metrics.ExecutorReports;
import org.apache.spark.shuffle.rdma.metrics.PathBytes;
import org.apache.spark.shuffle.rdma.write.DirectShuffleWriter;
import org.apache.spark.shuffle.rdma.write.DirectWritePolicy;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.apache.spark.util.RpcUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The plugin's entry point, named by {@code spark.shuffle.manager}; it sets what else it needs itself. Spark sees its
 * sort shuffle: the same handles, writers and reader, whose map outputs lie in slabs and whose blocks come by the best
 * path to each peer.
 *
 * <p>Where the settings leave the plugin nothing to do it is the plain sort shuffle, and says so once.
 */
public class RdmaShuffleManager extends SortShuffleManager {
    private static final Logger LOG = LoggerFactory.getLogger(RdmaShuffleManager.class);
    private static final String PUSH = "spark.shuffle.push.enabled";

    private final SparkConf conf;
    private final boolean isDriver;
    private final RdmaShuffleConf settings;
    private final Activation activation;
    private final RdmaShuffleBlockResolver resolver;
    /** Guarded by this for making and closing; read without. */
    private volatile ExecutorRuntime runtime;

    private volatile ExecutorReports reports;
    private boolean isStopped;

    /**
     * Called by Spark on the driver and on every executor.
     *
     * @throws IllegalArgumentException if a setting of {@code spark.shuffle.rdma.*} is bad
     */
    public RdmaShuffleManager(SparkConf conf, boolean isDriver) {
        super(conf);
        this.conf = conf;
        this.isDriver = isDriver;
        this.settings = readSettings(conf);
        this.activation = Activation.of(conf);
        this.resolver = new RdmaShuffleBlockResolver(conf, this);
        if (activation.isActive()) {
            // The driver's settings travel to the executors.
            conf.set(Activation.IO_PLUGIN, RdmaShuffleDataIO.class.getName());
            declinePush();
        } else {
            LOG.warn("shuffles are Spark's plain sort shuffle: {}", activation.cause());
        }
    }

    /** Spark wraps what a constructor throws in pages of stack trace: the sentence that matters is logged by itself. */
    private static RdmaShuffleConf readSettings(SparkConf conf) {
        try {
            return new RdmaShuffleConf(conf);
        } catch (IllegalArgumentException e) {
            LOG.error("{}", e.getMessage());
            throw e;
        }
    }

    /** The manager of this process's Spark. */
    static RdmaShuffleManager current() {
        if (SparkEnv.get().shuffleManager() instanceof RdmaShuffleManager manager) {
            return manager;
        }
        throw new IllegalStateException(Activation.IO_PLUGIN + " names " + RdmaShuffleDataIO.class.getName()
                + ", which works with spark.shuffle.manager=" + RdmaShuffleManager.class.getName() + " only");
    }

    /** On the driver: bytes read by path in the whole application, as far as executors have reported them. */
    public PathBytes pathBytes() {
        ExecutorReports current = reports;
        return current == null ? PathBytes.NONE : current.sum();
    }

    /** On the driver: what each executor has read and what memory it holds, as of its last report. */
    public List<ExecutorReport> executorReports() {
        ExecutorReports current = reports;
        return current == null ? List.of() : current.latest();
    }

    @Override
    public IndexShuffleBlockResolver shuffleBlockResolver() {
        return activation.isActive() ? resolver : super.shuffleBlockResolver();
    }

    @Override
    public <K, V, C> ShuffleHandle registerShuffle(int shuffleId, ShuffleDependency<K, V, C> dependency) {
        if (activation.isActive() && reports == null) {
            setUpReports();
        }
        return super.registerShuffle(shuffleId, dependency);
    }

    @Override
    public <K, C> ShuffleReader<K, C> getReader(
            ShuffleHandle handle,
            int startMapIndex,
            int endMapIndex,
            int startPartition,
            int endPartition,
            TaskContext context,
            ShuffleReadMetricsReporter metrics) {
        if (!activation.isActive()) {
            return super.getReader(handle, startMapIndex, endMapIndex, startPartition, endPartition, context, metrics);
        }
        @SuppressWarnings("unchecked")
        BaseShuffleHandle<K, ?, C> base = (BaseShuffleHandle<K, ?, C>) handle;
        return new ReaderFactory<>(base, context, metrics, runtime(), SparkEnv.get())
                .reader(startMapIndex, endMapIndex, startPartition, endPartition, settings.directRead());
    }

    @Override
    public <K, V> ShuffleWriter<K, V> getWriter(
            ShuffleHandle handle, long mapId, TaskContext context, ShuffleWriteMetricsReporter metrics) {
        if (activation.isActive()) {
            @SuppressWarnings("unchecked")
            ShuffleDependency<K, V, ?> dependency = ((BaseShuffleHandle<K, V, ?>) handle).dependency();
            ExecutorRuntime current = runtime();
            DirectWritePolicy.Way way = current.directWrite().wayFor(dependency, current.pool());
            if (way != DirectWritePolicy.Way.SPARK) {
                return new DirectShuffleWriter<>(
                        dependency,
                        new MapOutputId(handle.shuffleId(), mapId),
                        SparkEnv.get().blockManager().shuffleServerId(),
                        way == DirectWritePolicy.Way.GATHERED,
                        context,
                        metrics,
                        current.catalog(),
                        current.pool());
            }
        }
        return super.getWriter(handle, mapId, context, metrics);
    }

    @Override
    public boolean unregisterShuffle(int shuffleId) {
        ExecutorRuntime current = runtime;
        if (current != null) {
            current.unregisterShuffle(shuffleId);
        }
        return super.unregisterShuffle(shuffleId);
    }

    @Override
    public void stop() {
        synchronized (this) {
            isStopped = true;
            if (runtime != null) {
                runtime.close();
                runtime = null;
            }
        }
        if (isDriver && activation.isActive()) {
            LOG.info("shuffle blocks read in this application: {}", pathBytes().describe());
            executorReports()
                    .forEach(report -> LOG.info(
                            "executor {}: {}",
                            report.executorId(),
                            report.slabs().describe()));
        }
        super.stop();
    }

    /** What this executor owns, made at the first call; the block manager is ready from the first task on. */
    ExecutorRuntime runtime() {
        ExecutorRuntime current = runtime;
        return current != null ? current : makeRuntime();
    }

    /** What this executor owns, or null as long as no task has needed it. */
    ExecutorRuntime runtimeIfAny() {
        return runtime;
    }

    private synchronized ExecutorRuntime makeRuntime() {
        if (isStopped) {
            throw new IllegalStateException("the shuffle manager was stopped: the executor is going away");
        }
        if (runtime == null) {
            try {
                runtime = new ExecutorRuntime(settings, conf, SparkEnv.get().blockManager(), reportChannel());
            } catch (IOException e) {
                throw new UncheckedIOException("the shuffle memory of this executor could not be made", e);
            }
        }
        return runtime;
    }

    /** Reports stay within the process on a driver that runs its own tasks. */
    private Consumer<ExecutorReport> reportChannel() {
        if (isDriver) {
            return report -> {
                ExecutorReports current = reports;
                if (current != null) {
                    current.accept(report);
                }
            };
        }
        try {
            RpcEndpointRef driver = RpcUtils.makeDriverRef(
                    ExecutorReports.NAME, conf, SparkEnv.get().rpcEnv());
            return driver::send;
        } catch (Exception e) { // Spark's Scala code throws checked exceptions that it does not declare.
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted while the driver was looked for", e);
            }
            LOG.warn("the driver will not be told of the bytes that this executor reads", e);
            return report -> {};
        }
    }

    private synchronized void setUpReports() {
        if (reports == null) {
            ExecutorReports endpoint = new ExecutorReports(SparkEnv.get().rpcEnv());
            endpoint.rpcEnv().setupEndpoint(ExecutorReports.NAME, endpoint);
            reports = endpoint;
        }
    }

    private void declinePush() {
        if (conf.getBoolean(PUSH, false)) {
            conf.set(PUSH, "false");
            if (isDriver) {
                LOG.warn("{}=true is declined: map outputs stay in the memory of the executor that wrote them", PUSH);
            }
        }
    }
}
