/* SPDX-License-Identifier: Apache-2.0 */
/** A job that can be held at any point of a shuffle, and whose answer is known; depends on Spark and picocli. */
package org.sparkrdma.workloads.shuffle;
