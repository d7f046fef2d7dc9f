// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#pragma once
#include <sys/types.h>
#define P_TRACED 0x00000800
#define MAXCOMLEN 16
struct extern_proc {
    int p_flag;
    pid_t p_pid;
    char p_comm[MAXCOMLEN + 1];
};
