#pragma once
#include <stdint.h>

/// How often this process has asked for memory so far. Counted by standing in for the allocator's entry points.
uint64_t allocation_count(void);
