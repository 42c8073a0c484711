/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.spark.SparkConf;
import org.apache.spark.internal.config.ConfigEntry;
import org.apache.spark.shuffle.ShuffleManager;
import org.apache.spark.shuffle.rdma.RdmaShuffleManager;
import org.apache.spark.util.Utils;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import scala.jdk.javaapi.CollectionConverters;

/** The ready configurations under {@code conf/}, read as Spark reads them. */
class SparkDefaultsTest {
    @ParameterizedTest
    @ValueSource(strings = "conf/spark-defaults-standalone.conf")
    void isAccepted(String file) {
        Map<String, String> settings = load(file);
        SparkConf spark = new SparkConf(false);
        settings.forEach(spark::set);

        RdmaShuffleConf conf = new RdmaShuffleConf(spark, new MemoryBudget(16L << 30, 1L << 30, OptionalLong.empty()));

        assertEquals(2L << 30, conf.memoryMax());
        assertEquals(List.of(PathName.SHM, PathName.NETTY), conf.paths());
        assertEquals(RdmaShuffleManager.class.getName(), ShuffleManager.getShuffleManagerClassName(spark));
        assertEquals(settings.get("spark.driver.extraClassPath"), settings.get("spark.executor.extraClassPath"));
        assertFalse(settings.containsKey("spark.serializer"), "the choice of a serializer is the application's");
    }

    @ParameterizedTest
    @ValueSource(strings = "conf/spark-defaults-standalone.conf")
    void setsOnlyWhatSparkKnows(String file) {
        // Spark registers its entries when the object that declares them is initialised.
        assertNotNull(org.apache.spark.internal.config.package$.MODULE$);
        load(file).keySet().stream()
                .filter(key -> !key.startsWith(RdmaShuffleConf.PREFIX))
                .forEach(key -> assertNotNull(ConfigEntry.findEntry(key), key + " is not a setting of Spark"));
    }

    private static Map<String, String> load(String file) {
        Map<String, String> settings = CollectionConverters.asJava(
                Utils.getPropertiesFromFile(ProjectFiles.file(file).toString()));
        assertTrue(settings.size() >= 3, "only " + settings.size() + " settings in " + file);
        return settings;
    }
}
