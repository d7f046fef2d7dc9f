// SPDX-License-Identifier: Apache-2.0
// What CRuntimeProbe says of a process that the kernel does not show: `sysctl` then succeeds, and writes nothing.
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
    return failed;
}
