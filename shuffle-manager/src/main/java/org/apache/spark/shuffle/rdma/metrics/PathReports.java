/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.metrics;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.rpc.RpcEndpoint;
import org.apache.spark.rpc.RpcEnv;
import scala.PartialFunction;
import scala.runtime.AbstractPartialFunction;
import scala.runtime.BoxedUnit;

/** The driver's end: the last report of each executor. */
public final class PathReports implements RpcEndpoint {
    /** Name under which executors find the driver's end. */
    public static final String NAME = "RdmaShufflePathReports";

    private final RpcEnv rpcEnv;
    private final Map<String, PathBytes> totals = new ConcurrentHashMap<>();

    /** An end that still has to be set up under {@link #NAME}. */
    public PathReports(RpcEnv rpcEnv) {
        this.rpcEnv = rpcEnv;
    }

    @Override
    public RpcEnv rpcEnv() {
        return rpcEnv;
    }

    /** Takes a report in. */
    public void accept(PathReport report) {
        totals.put(report.executorId(), report.total());
    }

    /** Bytes read by path in the whole application, as far as reported. */
    public PathBytes sum() {
        return totals.values().stream().reduce(PathBytes.NONE, PathBytes::plus);
    }

    @Override
    public PartialFunction<Object, BoxedUnit> receive() {
        return new AbstractPartialFunction<>() {
            @Override
            public boolean isDefinedAt(Object message) {
                return message instanceof PathReport;
            }

            @Override
            public BoxedUnit apply(Object message) {
                accept((PathReport) message);
                return BoxedUnit.UNIT;
            }
        };
    }
}
