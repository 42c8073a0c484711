/* SPDX-License-Identifier: Apache-2.0 */
/** Reading a peer's slabs on the same host, mapped read-only; depends on memory, wire and api. */
package org.sparkrdma.transport.shm;
