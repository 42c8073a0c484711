/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.spark.shuffle.rdma.config;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** The ways by which a block can reach an executor from another one, as settings name them. */
public enum PathName {
    /** The peer's slabs, mapped read-only on the same host. */
    SHM,
    /** Spark's own block transfer: the fallback, always allowed. */
    NETTY;

    /** The name in settings and reports: lower case. */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }

    static Optional<PathName> of(String text) {
        return Arrays.stream(values()).filter(path -> path.text().equals(text)).findFirst();
    }

    static String all() {
        return Arrays.stream(values()).map(PathName::text).collect(Collectors.joining(", "));
    }
}
