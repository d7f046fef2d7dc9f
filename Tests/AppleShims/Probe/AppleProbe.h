// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

// What RuntimeIntegrity calls on Apple's systems, as their compiler sees it, on Linux: Tests/Packaging/Builds/apple-half
// type-checks it. The declarations beside this file are written from Apple's documentation, and do nothing.

#ifndef APPLE_PROBE_H
#define APPLE_PROBE_H

#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

// What Apple's headers of the same names have besides.
#define sin_len sin_zero[0]
#define SO_NOSIGPIPE 0x1022
#define F_GETPATH 50

// Apple's headers have it, but getsockopt refuses it there.
#undef SO_ACCEPTCONN

#pragma push_macro("__linux__")
#undef __linux__
#define __APPLE__ 1
#include "../../../Sources/CRuntimeProbe/include/CRuntimeProbe.h"
#undef __APPLE__
#pragma pop_macro("__linux__")

#endif
