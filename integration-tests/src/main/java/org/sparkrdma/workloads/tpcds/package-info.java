/* SPDX-License-Identifier: Apache-2.0 */
/** TPC-DS: its data, its queries, their answers, and the applications that Spark runs for them. */
package org.sparkrdma.workloads.tpcds;
