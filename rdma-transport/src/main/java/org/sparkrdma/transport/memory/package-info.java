/* SPDX-License-Identifier: Apache-2.0 */
/** Slabs of shareable memory and the extents cut from them; depends on api. */
package org.sparkrdma.transport.memory;
