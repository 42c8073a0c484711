/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.api;

/**
 * What a peer tells about itself in the bootstrap: who it is and where its directory lies. Everything else is read from
 * the directory.
 *
 * @param executorId Spark's id of the executor, unique in its application
 * @param host where the peer's process lives
 * @param process the peer's process
 * @param directory the file behind the peer's directory
 * @param token random, and repeated in the directory's header: proves that the memory read is this peer's
 */
public record PeerEndpoint(
        String executorId, HostIdentity host, ProcessIdentity process, SharedFile directory, Token token) {

    /**
     * How a peer on the same host finds a file of shared memory.
     *
     * @param descriptor descriptor number in the owner, found as {@code /proc/<pid>/fd/<n>}; -1 for a named file
     * @param path the file's path when it keeps a name; empty otherwise
     * @param length bytes
     */
    public record SharedFile(int descriptor, String path, long length) {
        /** Whether the file is found by its owner's descriptor. */
        public boolean isAnonymous() {
            return descriptor >= 0;
        }
    }

    /** 128 random bits. */
    public record Token(long high, long low) {
        /** A fresh token from a cryptographic source. */
        public static Token random() {
            java.security.SecureRandom random = new java.security.SecureRandom();
            return new Token(random.nextLong(), random.nextLong());
        }

        /** Does not show the bits: tokens must not reach logs. */
        @Override
        public String toString() {
            return "Token[...]";
        }
    }
}
