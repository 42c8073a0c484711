/* SPDX-License-Identifier: Apache-2.0 */
/** The seam between the shuffle and its transports; depends on the JDK alone. */
package org.sparkrdma.transport.api;
