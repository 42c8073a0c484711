/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma;

import java.util.Map;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.api.ShuffleDataIO;
import org.apache.spark.shuffle.api.ShuffleDriverComponents;
import org.apache.spark.shuffle.api.ShuffleExecutorComponents;
import org.apache.spark.shuffle.api.ShuffleMapOutputWriter;
import org.apache.spark.shuffle.api.SingleSpillShuffleMapOutputWriter;
import org.apache.spark.shuffle.rdma.catalog.MapOutputCatalog.MapOutputId;
import org.apache.spark.shuffle.rdma.write.ExtentMapOutputWriter;
import org.apache.spark.shuffle.rdma.write.SpillFileMapOutputWriter;
import org.apache.spark.shuffle.sort.io.LocalDiskShuffleDriverComponents;
import org.apache.spark.util.TaskCompletionListener;

/** Makes Spark's own shuffle writers end in extents; {@link RdmaShuffleManager} names it in Spark's settings. */
public class RdmaShuffleDataIO implements ShuffleDataIO {
    /** Called by Spark. */
    public RdmaShuffleDataIO(SparkConf conf) {}

    @Override
    public ShuffleDriverComponents driver() {
        return new LocalDiskShuffleDriverComponents();
    }

    @Override
    public ShuffleExecutorComponents executor() {
        return new Executor();
    }

    private static final class Executor implements ShuffleExecutorComponents {
        private ExecutorRuntime runtime;

        @Override
        public void initializeExecutor(String appId, String executorId, Map<String, String> extraConfigs) {
            runtime = RdmaShuffleManager.current().runtime();
        }

        @Override
        public ShuffleMapOutputWriter createMapOutputWriter(int shuffleId, long mapId, int partitions) {
            ExtentMapOutputWriter writer = new ExtentMapOutputWriter(
                    new MapOutputId(shuffleId, mapId),
                    partitions,
                    runtime.isSparkOutputRaw(),
                    runtime.catalog(),
                    runtime.pool());
            TaskContext task = TaskContext.get();
            if (task != null) {
                task.addTaskCompletionListener((TaskCompletionListener) ended -> writer.taskEnded());
            }
            return writer;
        }

        @Override
        public Optional<SingleSpillShuffleMapOutputWriter> createSingleFileMapOutputWriter(int shuffleId, long mapId) {
            return Optional.of(new SpillFileMapOutputWriter(
                    new MapOutputId(shuffleId, mapId), runtime.isSparkOutputRaw(), runtime.catalog(), runtime.pool()));
        }
    }
}
