// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#pragma once
#include <stddef.h>
#include <sys/proc.h>
#define CTL_KERN 1
#define KERN_PROC 14
#define KERN_PROC_PID 1
struct kinfo_proc {
    struct extern_proc kp_proc;
};
int sysctl(int *name, unsigned count, void *old, size_t *old_size, void *new_value, size_t new_size);
