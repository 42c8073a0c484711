/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

class MemoryBudgetTest {
    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;

    @Test
    void isAnEighthOfTheMemoryWhereTheHeapLeavesRoom() {
        assertEquals(
                8 * GIB,
                MemoryBudget.of(new SparkConf(false), 64 * GIB, 16 * GIB).bytes());
    }

    @Test
    void isHalfOfWhatABigHeapLeaves() {
        assertEquals(
                2 * GIB,
                MemoryBudget.of(new SparkConf(false), 64 * GIB, 60 * GIB).bytes());
    }

    @Test
    void isOneSlabEvenWhereTheHeapTakesEverything() {
        assertEquals(
                64 * MIB,
                MemoryBudget.of(new SparkConf(false), 8 * GIB, 8 * GIB).bytes());
        assertEquals(
                64 * MIB,
                MemoryBudget.of(new SparkConf(false), 8 * GIB, 12 * GIB).bytes());
    }

    @Test
    void countsSparksOffHeapMemoryWhenItIsOn() {
        SparkConf conf = new SparkConf(false).set("spark.memory.offHeap.size", "40g");
        assertEquals(8 * GIB, MemoryBudget.of(conf, 64 * GIB, 16 * GIB).bytes());
        conf.set("spark.memory.offHeap.enabled", "true");
        assertEquals(4 * GIB, MemoryBudget.of(conf, 64 * GIB, 16 * GIB).bytes());
    }

    @Test
    void isHalfOfTheOverheadOnYarn() {
        SparkConf conf = yarn().set("spark.executor.memoryOverhead", "2g");
        assertEquals(GIB, MemoryBudget.of(conf, 64 * GIB, 16 * GIB).bytes());
        assertEquals(
                512 * MIB,
                MemoryBudget.of(conf.set("spark.executor.memoryOverhead", "1024"), 64 * GIB, 16 * GIB)
                        .bytes(),
                "MiB without a suffix");
    }

    @Test
    void yarnsOverheadIsAShareOfTheHeapIfNotGiven() {
        SparkConf conf = yarn().set("spark.executor.memory", "20g");
        assertEquals(GIB, MemoryBudget.of(conf, 64 * GIB, 20 * GIB).bytes());
        conf.set("spark.executor.memoryOverheadFactor", "0.2");
        assertEquals(2 * GIB, MemoryBudget.of(conf, 64 * GIB, 20 * GIB).bytes());
    }

    @Test
    void yarnsOverheadHasALeastValue() {
        SparkConf conf = yarn();
        assertEquals(192 * MIB, MemoryBudget.of(conf, 64 * GIB, GIB).bytes());
        conf.set("spark.executor.minMemoryOverhead", "512m");
        assertEquals(256 * MIB, MemoryBudget.of(conf, 64 * GIB, GIB).bytes());
    }

    @Test
    void aTinyOverheadGoesBelowOneSlabButNotBelowTheLeastSetting() {
        assertEquals(
                20 * MIB,
                MemoryBudget.of(yarn().set("spark.executor.memoryOverhead", "40m"), 64 * GIB, GIB)
                        .bytes());
        assertEquals(
                MIB,
                MemoryBudget.of(yarn().set("spark.executor.memoryOverhead", "1m"), 64 * GIB, GIB)
                        .bytes());
    }

    @Test
    void theOverheadMeansNothingElsewhere() {
        SparkConf conf = new SparkConf(false)
                .set("spark.master", "spark://host:7077")
                .set("spark.executor.memoryOverhead", "100m");
        assertEquals(8 * GIB, MemoryBudget.of(conf, 64 * GIB, GIB).bytes());
    }

    @Test
    void thisJvmHasABudget() {
        assertTrue(MemoryBudget.ofThisJvm(new SparkConf(false)).bytes() >= 64 * MIB);
    }

    private static SparkConf yarn() {
        return new SparkConf(false).set("spark.master", "yarn");
    }
}
