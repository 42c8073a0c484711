/* SPDX-License-Identifier: Apache-2.0 */
/** Real standalone clusters in separate processes; depends on the JDK and on a Spark folder, not on Spark's classes. */
package org.sparkrdma.cluster;
