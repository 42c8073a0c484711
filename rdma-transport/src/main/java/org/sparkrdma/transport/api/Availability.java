/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.api;

/**
 * The answer of a probe that runs once.
 *
 * @param isAvailable whether the thing can be used
 * @param unavailabilityCause why not, in words for an operator; empty when available
 */
public record Availability(boolean isAvailable, String unavailabilityCause) {
    /** The thing can be used. */
    public static final Availability AVAILABLE = new Availability(true, "");

    /** The thing cannot be used, and why. */
    public static Availability unavailable(String cause) {
        return new Availability(false, cause);
    }
}
