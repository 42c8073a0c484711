/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.tools;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import org.sparkrdma.cluster.Application;
import org.sparkrdma.cluster.StandaloneCluster;
import org.sparkrdma.cluster.Submission;
import org.sparkrdma.workloads.tpcds.Answer;
import org.sparkrdma.workloads.tpcds.QueryRun;
import org.sparkrdma.workloads.tpcds.RunTpcds;

/**
 * One side of a comparison: the TPC-DS queries run with one shuffle.
 *
 * @param folder the answers
 * @param runs what was reported, by the query's name
 */
record Side(Path folder, Map<String, QueryRun> runs) {

    private static final String EXECUTOR_MEMORY = "3g";
    private static final String WORKER_MEMORY = "4g";

    /** What both sides have in common. */
    record Plan(Path data, List<String> queries, int warmUp, int passes, Map<String, String> conf, Duration limit) {}

    /** Two Workers with room for one executor of one core each. */
    static StandaloneCluster startCluster(Workspace workspace) throws IOException, InterruptedException {
        return StandaloneCluster.start(workspace.clusterOptions().withWorkers(2, 1, WORKER_MEMORY));
    }

    static Side run(StandaloneCluster cluster, Workspace workspace, Shuffle shuffle, Plan plan, Path folder)
            throws IOException, InterruptedException, TimeoutException {
        Map<String, String> conf = new LinkedHashMap<>();
        conf.put("spark.driver.extraClassPath", workspace.pluginJar().toString());
        conf.put("spark.executor.extraClassPath", workspace.pluginJar().toString());
        conf.put("spark.sql.warehouse.dir", folder.resolve("warehouse").toString());
        conf.put("spark.ui.enabled", "false");
        conf.put("spark.driver.memory", "2g");
        conf.put("spark.executor.memory", EXECUTOR_MEMORY);
        conf.put("spark.executor.cores", "1");
        conf.putAll(plan.conf());
        conf.putAll(shuffle.conf());
        List<String> arguments = new ArrayList<>(List.of("--data", plan.data().toString(), "--out", folder.toString()));
        arguments.addAll(
                List.of("--warm-up", Integer.toString(plan.warmUp()), "--passes", Integer.toString(plan.passes())));
        if (!plan.queries().isEmpty()) {
            arguments.addAll(List.of("--queries", String.join(",", plan.queries())));
        }
        Application application = Application.of(RunTpcds.class.getName(), workspace.workloadsJar())
                .withArguments(arguments)
                .withConf(conf)
                .withLimit(plan.limit());
        System.err.println("running with the " + shuffle.label() + " shuffle");
        try (Submission submission = cluster.submit(application)) {
            Progress progress = new Progress(submission, System.err);
            while (submission.isRunning() && !submission.isOverLimit()) {
                submission.awaitWhileRunning(() -> false, Duration.ofSeconds(1));
                progress.print();
            }
            submission.awaitSuccess();
        }
        return new Side(folder, QueryRun.readAll(folder));
    }

    Answer answer(String query) throws IOException {
        return Answer.read(folder.resolve(query + ".out"));
    }

    /** Why this side's answer to a query is not the expected one, or empty when it is. */
    Optional<String> differenceFrom(Answer expected, String query) throws IOException {
        QueryRun run = runs.get(query);
        if (run == null) {
            return Optional.of("was not run");
        }
        return run.error().isPresent() ? run.error() : answer(query).differenceFrom(expected);
    }
}
