#pragma once
#include <stdint.h>

/// How often this process has asked for memory so far. Counted by standing in for the allocator's entry points.
uint64_t allocation_count(void);

/// From now on the bytes that are held are followed, beginning with 0.
void allocation_follow(void);

/// The bytes that were added and are held now; negative when more was given back.
int64_t allocation_held(void);

/// The most that this was at any time since then, and the end of following.
int64_t allocation_most_held(void);
