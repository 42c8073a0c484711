/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.api;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Tells whether two processes see each other's {@code /proc}: same kernel boot and same process-id namespace.
 *
 * @param bootId the kernel's boot id; empty where there is no {@code /proc}
 * @param pidNamespace the process-id namespace; empty where there is no {@code /proc}
 */
public record HostIdentity(String bootId, String pidNamespace) {
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
    private static final Path PID_NAMESPACE = Path.of("/proc/self/ns/pid");

    /** The identity of this process; its fields are empty on systems without {@code /proc}. */
    public static HostIdentity current() {
        try {
            return new HostIdentity(
                    Files.readString(BOOT_ID).strip(),
                    Files.readSymbolicLink(PID_NAMESPACE).toString());
        } catch (IOException | UnsupportedOperationException e) {
            return new HostIdentity("", "");
        }
    }

    /** Whether {@code /proc} was readable. */
    public boolean isKnown() {
        return !bootId.isEmpty();
    }
}
