# SPDX-License-Identifier: Apache-2.0
#
# A cache in front of the service in VCL, the language of Varnish and, in a dialect, of Fastly: what any CDN has to be told,
# as a program that a test runs. Varnish 7, with vmod_vsthrottle (Debian: varnish-modules). TLS is ended in front of it, by
# a proxy that speaks the PROXY protocol, version 2 (hitch, HAProxy, nginx), so that client.ip is the client's address.
#
# In tumbler-service.yaml, with the address of this Varnish:
#
#     trustedProxies: [127.0.0.1]
#     edges: [127.0.0.1]
#
# The log for `tumbler adoption import`, once a day: one line a request, and nothing that identifies a client:
#
#     varnishncsa -j -q 'ReqURL ~ "/pins[.]json$"' \
#         -F '{"time":"%{%Y-%m-%dT%H:%M:%S%z}t","ifNoneMatch":"%{If-None-Match}i","status":%s,"path":"%U"}'

vcl 4.1;

import std;
import vsthrottle;

backend tumbler {
    .host = "127.0.0.1";
    .port = "8480";
    .connect_timeout = 5s;
    .first_byte_timeout = 60s;
    .between_bytes_timeout = 30s;
    # Reports wait for the service's disk; lists come from here.
    .max_connections = 400;
}

sub vcl_recv {
    # The public paths alone: no dashboard, no metrics, no publication.
    if (req.url !~ "^/v1/lists/[A-Za-z0-9._-]+/(pins|root/[0-9]+|logs/[0-9a-f]+)\.json(\?|$)"
        && req.url !~ "^/(v1/reports|v1/attest/(challenges|keys)|healthz)(\?|$)") {
        return (synth(404));
    }
    # One object a path: a query would make as many as a stranger likes, and each would be asked of the service.
    set req.url = regsub(req.url, "\?.*$", "");
    unset req.http.Cookie;
    unset req.http.Authorization;
    unset req.http.Accept-Encoding;
    # The address of the client alone: what the client wrote there itself is removed.
    set req.http.X-Forwarded-For = client.ip;
    unset req.http.Forwarded;
    # One source: an IPv4 address, or 64 bits of an IPv6 address, of which one customer has all the others. Where the text
    # of the address has `::` within its first 64 bits, what stands before it.
    set req.http.X-Source = regsub(regsub(client.ip, "^((?:[0-9a-f]+:){4}).*$", "\1"),
        "^((?:[0-9a-f]+:){1,3}:).*$", "\1");

    if (req.url == "/v1/reports" || req.url ~ "^/v1/attest/") {
        if (req.method != "POST") {
            return (synth(405));
        }
        # Without a length nothing can be refused before it was read. Clients of Tumbler say it; a challenge is asked for
        # without a body.
        if (req.http.Transfer-Encoding || (!req.http.Content-Length && req.url != "/v1/attest/challenges")) {
            return (synth(411));
        }
        # 6 MiB: a report with the envelope of a refused list. 128 KiB: an attestation.
        if (req.http.Content-Length
            && (std.integer(req.http.Content-Length, 6291457) > 6291456
                || (req.url != "/v1/reports" && std.integer(req.http.Content-Length, 6291457) > 131072))) {
            return (synth(413));
        }
        # Of one source ten times what the service takes, of all twice as much: 2,000 a second. What is over the service's
        # own limits is its to count, to sample and to ask to come later.
        if (vsthrottle.is_denied("reports " + req.http.X-Source, 600, 60s)
            || vsthrottle.is_denied("reports", 2000, 1s)) {
            return (synth(429));
        }
        return (pass);
    }
    if (req.method != "GET" && req.method != "HEAD") {
        return (synth(405));
    }
    if (vsthrottle.is_denied("lists " + req.http.X-Source, 6000, 60s)) {
        return (synth(429));
    }
    if (req.url == "/healthz") {
        return (pass);
    }
    return (hash);
}

sub vcl_hash {
    # By its path alone, with any Host that a client names.
    hash_data(req.url);
    return (lookup);
}

sub vcl_backend_fetch {
    unset bereq.http.X-Source;
}

sub vcl_backend_response {
    if (bereq.uncacheable) {
        return (deliver);
    }
    # A list for as long as the service says, 300 s, and a root that is not there yet for 60 s: that is asked by every client.
    if (beresp.status == 200) {
        # While the service is away the list that is held goes on being served: it is signed, and clients look at its age.
        set beresp.grace = 24h;
        set beresp.keep = 24h;
    } elsif (beresp.status == 404) {
        set beresp.ttl = 60s;
        set beresp.grace = 0s;
    } elsif (beresp.status >= 500 && bereq.is_bgfetch) {
        # A failing service removes no object from the cache.
        return (abandon);
    } else {
        set beresp.ttl = 0s;
        set beresp.uncacheable = true;
    }
    unset beresp.http.Set-Cookie;
    return (deliver);
}

sub vcl_synth {
    set resp.http.Content-Type = "text/plain";
    if (resp.status == 429) {
        # 5 to 40 minutes: those who came at one moment do not come back at one moment.
        set resp.http.Retry-After = "" + std.integer(real=std.random(300, 2400));
    }
    set resp.body = resp.reason;
    return (deliver);
}
