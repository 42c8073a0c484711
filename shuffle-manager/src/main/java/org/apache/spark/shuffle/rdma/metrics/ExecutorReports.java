/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.metrics;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.rpc.RpcEndpoint;
import org.apache.spark.rpc.RpcEnv;
import scala.PartialFunction;
import scala.runtime.AbstractPartialFunction;
import scala.runtime.BoxedUnit;

/** The driver's end: the last report of each executor. */
public final class ExecutorReports implements RpcEndpoint {
    /** Name under which executors find the driver's end. */
    public static final String NAME = "RdmaShuffleExecutorReports";

    private final RpcEnv rpcEnv;
    private final Map<String, ExecutorReport> latest = new ConcurrentHashMap<>();

    /** An end that still has to be set up under {@link #NAME}. */
    public ExecutorReports(RpcEnv rpcEnv) {
        this.rpcEnv = rpcEnv;
    }

    @Override
    public RpcEnv rpcEnv() {
        return rpcEnv;
    }

    /** Takes a report in. */
    public void accept(ExecutorReport report) {
        latest.put(report.executorId(), report);
    }

    /** Bytes read by path in the whole application, as far as reported. */
    public PathBytes sum() {
        return latest.values().stream().map(ExecutorReport::read).reduce(PathBytes.NONE, PathBytes::plus);
    }

    /** Each executor's last report. */
    public List<ExecutorReport> latest() {
        return List.copyOf(latest.values());
    }

    @Override
    public PartialFunction<Object, BoxedUnit> receive() {
        return new AbstractPartialFunction<>() {
            @Override
            public boolean isDefinedAt(Object message) {
                return message instanceof ExecutorReport;
            }

            @Override
            public BoxedUnit apply(Object message) {
                accept((ExecutorReport) message);
                return BoxedUnit.UNIT;
            }
        };
    }
}
