/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.cluster.Application;
import org.sparkrdma.cluster.ClusterOptions;
import org.sparkrdma.cluster.StandaloneCluster;
import org.sparkrdma.workloads.shuffle.ShuffleJob.Kind;

/** Clusters that authenticate and encrypt: every path still works, and the answers are right. */
class SecureClusterIT {
    private static final String PASSWORD = "only-for-tests";

    @TempDir
    Path temporary;

    @Test
    void authenticatedAndEncrypted() throws Exception {
        Map<String, String> daemons = Map.of(
                "spark.authenticate", "true",
                "spark.authenticate.secret", "only-for-tests",
                "spark.network.crypto.enabled", "true");
        Map<String, String> applications = new TreeMap<>(daemons);
        applications.put("spark.io.encryption.enabled", "true");
        shuffleOnEveryPath(daemons, applications);
    }

    @Test
    void rpcBySsl() throws Exception {
        Path store = temporary.resolve("keys.p12");
        String keytool =
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        Process made = new ProcessBuilder(
                        keytool,
                        "-genkeypair",
                        "-keystore",
                        store.toString(),
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        PASSWORD,
                        "-keyalg",
                        "RSA",
                        "-keysize",
                        "2048",
                        "-dname",
                        "CN=localhost",
                        "-alias",
                        "it")
                .inheritIO()
                .start();
        assertEquals(0, made.waitFor());
        Map<String, String> ssl = Map.of(
                "spark.ssl.rpc.enabled",
                "true",
                "spark.ssl.rpc.keyStore",
                store.toString(),
                "spark.ssl.rpc.keyStoreType",
                "PKCS12",
                "spark.ssl.rpc.keyStorePassword",
                PASSWORD,
                "spark.ssl.rpc.keyPassword",
                PASSWORD,
                "spark.ssl.rpc.trustStore",
                store.toString(),
                "spark.ssl.rpc.trustStoreType",
                "PKCS12",
                "spark.ssl.rpc.trustStorePassword",
                PASSWORD,
                "spark.ssl.rpc.protocol",
                "TLSv1.3");
        shuffleOnEveryPath(ssl, ssl);
    }

    private void shuffleOnEveryPath(Map<String, String> daemons, Map<String, String> applications) throws Exception {
        String properties = daemons.entrySet().stream()
                .map(entry -> "-D" + entry.getKey() + "=" + entry.getValue())
                .collect(Collectors.joining(" "));
        ClusterOptions options =
                ItClusters.options(temporary.resolve("cluster")).withEnvironment("SPARK_DAEMON_JAVA_OPTS", properties);
        try (StandaloneCluster cluster = StandaloneCluster.start(options)) {
            for (Kind kind : Kind.values()) {
                for (String paths : List.of("shm,netty", "netty")) {
                    Application application =
                            ShuffleJobs.plugin(kind).withConf(applications).withConf("spark.shuffle.rdma.paths", paths);
                    JobResult result = JobResult.of(cluster.run(application)).assertAnswer(ShuffleJobs.ROWS);
                    assertEquals(paths.equals("netty"), result.get("netty") > 0, result::line);
                    assertEquals(paths.equals("netty"), result.get("shm") == 0, result::line);
                    assertTrue(result.get("local") > 0, result::line);
                    assertEquals(0, result.get("retries"), result::line);
                }
            }
        }
    }
}
