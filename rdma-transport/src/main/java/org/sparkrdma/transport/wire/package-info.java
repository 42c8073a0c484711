/* SPDX-License-Identifier: Apache-2.0 */
/** Every byte layout that leaves the process, each in one descriptor class with its version; depends on api. */
package org.sparkrdma.transport.wire;
