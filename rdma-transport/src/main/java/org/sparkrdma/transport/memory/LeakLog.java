/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.transport.memory;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Where the extents that are out were allocated; keeps nothing unless it is asked to.
 *
 * <p>Threading: any thread.
 */
final class LeakLog {
    private final boolean isKept;
    private final Map<Extent, Throwable> sites = Collections.synchronizedMap(new IdentityHashMap<>());

    LeakLog(boolean isKept) {
        this.isKept = isKept;
    }

    void allocated(Extent extent) {
        if (isKept) {
            sites.put(extent, new Throwable("allocated here"));
        }
    }

    void replaced(Extent extent, Extent by) {
        Throwable site = sites.remove(extent);
        if (site != null) {
            sites.put(by, site);
        }
    }

    void freed(Extent extent) {
        sites.remove(extent);
    }

    List<Throwable> sites() {
        synchronized (sites) {
            return List.copyOf(sites.values());
        }
    }
}
