/* SPDX-License-Identifier: Apache-2.0 */
package org.sparkrdma.cluster;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Asks a Master's web page, which answers in JSON too, how it is. */
final class MasterStatus {
    private static final Pattern ALIVE = Pattern.compile("\"aliveworkers\"\\s*:\\s*(\\d+)");

    private final HttpClient client =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();
    private final URI page;

    MasterStatus(String host, int port) {
        this.page = URI.create("http://" + host + ":" + port + "/json/");
    }

    int port() {
        return page.getPort();
    }

    int aliveWorkers() throws IOException, InterruptedException {
        String answer = answer();
        Matcher alive = ALIVE.matcher(answer);
        if (!alive.find()) {
            throw new IOException(page + " has no aliveworkers: " + answer);
        }
        return Integer.parseInt(alive.group(1));
    }

    private String answer() throws IOException, InterruptedException {
        HttpRequest request =
                HttpRequest.newBuilder(page).timeout(Duration.ofSeconds(5)).build();
        return client.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }

    /** Waits until the Master at this URL counts so many Workers. */
    void await(String masterUrl, int workers, Duration limit, Supplier<String> log)
            throws IOException, InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        String last = "";
        do {
            try {
                last = answer();
                Matcher alive = ALIVE.matcher(last);
                if (last.contains('"' + masterUrl + '"')
                        && alive.find()
                        && Integer.parseInt(alive.group(1)) >= workers) {
                    return;
                }
            } catch (IOException e) {
                last = e.toString();
            }
            TimeUnit.MILLISECONDS.sleep(100);
        } while (System.nanoTime() - end < 0);
        throw new IOException("Master " + masterUrl + " did not have " + workers + " Workers within " + limit
                + "; its page said: " + last + "\nits log ends:\n" + log.get());
    }
}
