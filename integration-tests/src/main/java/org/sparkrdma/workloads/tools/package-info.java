/* SPDX-License-Identifier: Apache-2.0 */
/** The programs behind bin/demo and bin/tpcds: they start a cluster, submit workloads to it and compare answers. */
package org.sparkrdma.workloads.tools;
