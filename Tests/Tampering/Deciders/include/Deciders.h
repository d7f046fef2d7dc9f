// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

// The functions that decide in the program that is attacked: in C, as those of a TLS library are, so that a tool finds
// them by their names and no optimiser moves them.

#ifndef DECIDERS_H
#define DECIDERS_H

#include <stddef.h>
#include <stdint.h>

// What a TLS library asks for each connection: 1 for trusted.
int verification_callback(const uint8_t *key, size_t count);
// The verdict: 1 for pinned. There is one pinned key: the bytes of "the pinned key".
int is_pinned(const uint8_t *key, size_t count);
// The hash: FNV-1a, which is enough to be hooked.
uint64_t digest_of(const uint8_t *bytes, size_t count);
// The check of a list's signature: 1 for valid. 7 is valid, 8 is not.
int has_valid_signature(int signature);

// The bytes that the program has allocated and not given back: for the measurements; no decision uses it.
size_t allocated_bytes(void);

#endif
