#include "AllocationCount.h"
#include <stdatomic.h>
#include <stddef.h>

static _Atomic uint64_t count;
static _Atomic int follows;
static _Atomic int64_t held;
static _Atomic int64_t most;

uint64_t allocation_count(void) { return atomic_load(&count); }

void allocation_follow(void) {
    atomic_store(&held, 0);
    atomic_store(&most, 0);
    atomic_store(&follows, 1);
}

int64_t allocation_held(void) { return atomic_load(&held); }

int64_t allocation_most_held(void) {
    atomic_store(&follows, 0);
    return atomic_load(&most);
}

#if defined(__GLIBC__) || defined(__linux__)
#include <malloc.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static void *taken(void *memory) {
    if (memory && atomic_load_explicit(&follows, memory_order_relaxed)) {
        int64_t bytes = (int64_t)malloc_usable_size(memory);
        int64_t now = atomic_fetch_add_explicit(&held, bytes, memory_order_relaxed) + bytes;
        int64_t highest = atomic_load_explicit(&most, memory_order_relaxed);
        while (now > highest && !atomic_compare_exchange_weak(&most, &highest, now)) {}
    }
    return memory;
}

static void *given(void *memory) {
    if (memory && atomic_load_explicit(&follows, memory_order_relaxed)) {
        atomic_fetch_sub_explicit(&held, (int64_t)malloc_usable_size(memory), memory_order_relaxed);
    }
    return memory;
}

void free(void *memory) { __libc_free(given(memory)); }

void *malloc(size_t size) {
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    return taken(__libc_malloc(size));
}

void *calloc(size_t number, size_t size) {
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    return taken(__libc_calloc(number, size));
}

void *realloc(void *old, size_t size) {
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    return taken(__libc_realloc(given(old), size));
}

void *aligned_alloc(size_t alignment, size_t size) {
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    return taken(__libc_memalign(alignment, size));
}

int posix_memalign(void **result, size_t alignment, size_t size) {
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    *result = taken(__libc_memalign(alignment, size));
    return *result ? 0 : 12;
}
#endif
