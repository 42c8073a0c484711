/* SPDX-License-Identifier: Apache-2.0 */
/** Named workloads for measuring shuffles, and the application that runs them. */
package org.sparkrdma.workloads.bench;
