/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.workloads.tools;

import java.io.PrintStream;
import org.sparkrdma.cluster.Submission;

/** Passes on the whole lines that an application wrote to stdout since the last time. */
final class Progress {
    private final Submission submission;
    private final PrintStream to;
    private int printed;

    Progress(Submission submission, PrintStream to) {
        this.submission = submission;
        this.to = to;
    }

    void print() {
        String output = submission.output();
        int end = output.lastIndexOf('\n') + 1;
        if (end > printed) {
            to.print(output.substring(printed, end));
            to.flush();
            printed = end;
        }
    }
}
