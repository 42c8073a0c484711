/* SPDX-License-Identifier: Apache-2.0 */
/** Which path each peer is read by: probe, cause, re-probe; depends on api. */
package org.sparkrdma.transport.select;
