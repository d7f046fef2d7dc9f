// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#include "Deciders.h"

#include <malloc.h>

#define DECIDER __attribute__((noinline))

// What the optimiser cannot see through.
static volatile int valid_signature = 7;

DECIDER int has_valid_signature(int signature) { return signature == valid_signature; }

DECIDER uint64_t digest_of(const uint8_t *bytes, size_t count) {
    uint64_t digest = 0xCBF29CE484222325;
    for (size_t index = 0; index < count; index++) digest = (digest ^ bytes[index]) * 0x100000001B3;
    return digest;
}

DECIDER int is_pinned(const uint8_t *key, size_t count) {
    return digest_of(key, count) == digest_of((const uint8_t *)"the pinned key", 14);
}

DECIDER int verification_callback(const uint8_t *key, size_t count) {
    return has_valid_signature(valid_signature) && is_pinned(key, count);
}

size_t allocated_bytes(void) { return mallinfo2().uordblks; }
