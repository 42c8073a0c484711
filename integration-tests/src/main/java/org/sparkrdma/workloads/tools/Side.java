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
import org.sparkrdma.workloads.tpcds.TpcdsQuery;

/**
 * One side of a comparison: an application on the cluster that runs TPC-DS queries with one shuffle
 * when it is told to. Keeps what every query answered and took.
 */
final class Side implements AutoCloseable {
    private static final Duration QUERY_LIMIT = Duration.ofMinutes(30);
    private static final Duration END_LIMIT = Duration.ofMinutes(2);

    private final Shuffle shuffle;
    private final Path folder;
    private final Submission submission;
    private final Map<String, List<QueryRun>> runs = new LinkedHashMap<>();

    private Side(Shuffle shuffle, Path folder, Submission submission) {
        this.shuffle = shuffle;
        this.folder = folder;
        this.submission = submission;
    }

    /**
     * Submits the application; two executors of one core.
     *
     * @param data the tables
     * @param folder where the answers go
     * @param conf Spark's configuration besides the shuffle's
     */
    static Side start(
            StandaloneCluster cluster,
            Workspace workspace,
            Shuffle shuffle,
            Path data,
            Path folder,
            Map<String, String> conf)
            throws IOException {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("spark.driver.extraClassPath", workspace.pluginJar().toString());
        all.put("spark.executor.extraClassPath", workspace.pluginJar().toString());
        all.put("spark.sql.warehouse.dir", folder.resolve("warehouse").toString());
        all.put("spark.ui.enabled", "false");
        all.put("spark.driver.memory", "2g");
        all.put("spark.executor.cores", "1");
        all.put("spark.cores.max", "2");
        all.putAll(conf);
        all.putAll(shuffle.conf());
        Application application = Application.of(RunTpcds.class.getName(), workspace.workloadsJar())
                .withArguments(List.of("--data", data.toString(), "--out", folder.toString()))
                .withConf(all)
                .withLimit(Duration.ofDays(1)); // each query has a limit of its own
        return new Side(shuffle, folder, cluster.submit(application));
    }

    /** Runs a query now and waits for its end. */
    QueryRun run(String query) throws IOException, InterruptedException, TimeoutException {
        submission.send(query);
        while (true) {
            String line = submission.nextLine(QUERY_LIMIT);
            if (line.startsWith(RunTpcds.MARK)) {
                QueryRun run = QueryRun.fromJson(line.substring(RunTpcds.MARK.length()));
                runs.computeIfAbsent(query, name -> new ArrayList<>()).add(run);
                return run;
            }
            System.err.println(shuffle.label() + ": " + line);
        }
    }

    /** Why a query's last answer is not the other side's, or empty when it is. */
    Optional<String> differenceFrom(Side other, String query) throws IOException {
        Optional<String> error = last(query).error();
        return error.isPresent() ? error : answer(query).differenceFrom(other.answer(query));
    }

    /** Why a query's last answer is not the golden one, or empty when it is. */
    Optional<String> differenceFromGolden(TpcdsQuery query) throws IOException {
        Optional<String> error = last(query.name()).error();
        return error.isPresent() ? error : answer(query.name()).masked().differenceFrom(Answer.parse(query.golden()));
    }

    private Answer answer(String query) throws IOException {
        return Answer.read(folder.resolve(query + ".out"));
    }

    QueryRun last(String query) {
        List<QueryRun> all = runs.get(query);
        return all.get(all.size() - 1);
    }

    /** The median time of a query's runs but the first few, seconds. */
    double medianSeconds(String query, int skipped) {
        List<Double> sorted = runs.get(query).stream()
                .skip(skipped)
                .map(QueryRun::seconds)
                .sorted()
                .toList();
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }

    /** Lets the application end, and fails when it does not end well. */
    void finish() throws IOException, InterruptedException, TimeoutException {
        submission.endInput();
        submission.awaitSuccess(END_LIMIT);
    }

    @Override
    public void close() {
        submission.close();
    }
}
