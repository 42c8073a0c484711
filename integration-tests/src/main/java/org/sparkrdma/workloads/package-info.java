/* SPDX-License-Identifier: Apache-2.0 */
/** Workloads that are submitted to a real cluster: TPC-DS and others. */
package org.sparkrdma.workloads;
