// SPDX-License-Identifier: Apache-2.0
// What CRuntimeProbe says of a process that the kernel does not show: `sysctl` then succeeds, and writes nothing. And which
// sockets it takes to listen.
#include "../../AppleShims/Probe/AppleProbe.h"
#include <stdio.h>

static int shows, traced;

int sysctl(int *name, unsigned count, void *old, size_t *old_size, void *new_value, size_t new_size) {
    struct kinfo_proc *information = old;
    (void)name, (void)count, (void)new_value, (void)new_size;
    if (!shows) {
        // A kernel may have written before it found that there is nothing.
        if (traced) {
            information->kp_proc.p_flag = P_TRACED;
            memcpy(information->kp_proc.p_comm, "debugserver", 12);
        }
        *old_size = 0;
        return 0;
    }
    information->kp_proc.p_flag = traced ? P_TRACED : 0;
    memcpy(information->kp_proc.p_comm, "launchd", 8);
    return 0;
}

static int failed;

static void expect(const char *what, long is, long should) {
    if (is == should) return;
    printf("%s: %ld in place of %ld\n", what, is, should);
    failed = 1;
}

static void sockets(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr *at = (struct sockaddr *)&address;
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    int datagrams = socket(AF_INET, SOCK_DGRAM, 0), listens = 0;
    expect("the port of a socket that is not bound", probe_own_port(client, &listens), 0);
    expect("a socket that is not bound listens", listens, 0);
    if (bind(listener, at, length) || listen(listener, 1) || getsockname(listener, at, &length) || connect(client, at, length)) {
        printf("there is no loopback network\n");
        failed = 1;
        return;
    }
    long port = ntohs(address.sin_port);
    int accepted = accept(listener, NULL, NULL);
    expect("the port of a socket that listens", probe_own_port(listener, &listens), port);
    expect("a socket that listens does", listens, 1);
    expect("the port of a connection that came in", probe_own_port(accepted, &listens), port);
    expect("a connection that came in listens", listens, 0);
    expect("the other end of a connection", probe_peer_port(client), port);
    expect("the port of a connection's other end is this one", probe_own_port(client, &listens) == probe_peer_port(accepted), 1);
    expect("a connection listens", listens, 0);
    address.sin_port = 0;
    expect("a socket for datagrams is bound", bind(datagrams, at, length), 0);
    expect("a socket for datagrams has a TCP port", probe_own_port(datagrams, &listens), 0);
    expect("a socket for datagrams listens", listens, 0);
}

int main(void) {
    char name[16];
    for (traced = 0; traced < 2; traced++) {
        shows = 0;
        expect("a process that is not shown is traced", probe_traced(), -ESRCH);
        expect("a parent that is not shown has a name", probe_parent(name, sizeof name), -ESRCH);
        shows = 1;
        expect("a process that is shown is traced", probe_traced(), traced);
        expect("the name of a parent that is shown", probe_parent(name, sizeof name), 7);
    }
    sockets();
    return failed;
}
