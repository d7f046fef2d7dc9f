// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#include "BareCalls.h"

#if defined(__linux__)

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

// The calls as RuntimeIntegrity makes them.
#include "../../../Sources/CRuntimeProbe/include/CRuntimeProbe.h"

enum { regions_most = 1024, pages_most = 1024 };

typedef struct {
    probe_mapping mapping;
    char name[4096];
} region;

static region regions[regions_most];
static char piece[65536];

/// All executable mappings: as Linux 6.11 gives them, else the list is only read.
static long all_regions(void) {
    long file = probe_open("/proc/self/maps");
    if (file < 0) return file;
    long count = 0, result = 0;
    while (count < regions_most) {
        uint64_t start = count ? regions[count - 1].mapping.end : 0;
        result = probe_next_executable(file, start, &regions[count].mapping, regions[count].name, sizeof regions[0].name);
        if (result < 0) break;
        count++;
    }
    while (result == -ENOTTY && probe_read(file, piece, 8192) > 0) {}
    probe_close(file);
    return count;
}

static long read_all(const char *path) {
    long file = probe_open(path);
    if (file < 0) return file;
    while (probe_read(file, piece, 8192) > 0) {}
    probe_close(file);
    return 0;
}

static int is_looked_at(const region *region) {
    static const char *const names[] = {"libc.so", "libc-", "ld-", "libpthread", "libssl", "libcrypto"};
    uint64_t here = probe_here();
    if (region->mapping.start <= here && here < region->mapping.end) return 1;
    const char *name = strrchr(region->name, '/');
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strncmp(name + 1, names[i], strlen(names[i])) == 0) return 1;
    return 0;
}

static long changed_pages(void) {
    uint64_t choice, page = (uint64_t)getpagesize();
    long count = all_regions();
    if (getrandom(&choice, sizeof choice, 0) < 0) return -errno;
    long file = probe_open("/proc/self/pagemap");
    if (file < 0) return file;
    for (long i = 0; i < count; i++) {
        if (!is_looked_at(&regions[i])) continue;
        uint64_t start = regions[i].mapping.start, pages = (regions[i].mapping.end - start) / page;
        if (pages > pages_most) {
            start += choice % (pages - pages_most + 1) * page;
            pages = pages_most;
        }
        long result = probe_changed_pages(file, start, start + pages * page, page);
        for (uint64_t at = 0; result == -ENOTTY && at < pages; at += 512)
            probe_read_at(file, piece, 4096, (long)((start / page + at) * 8));
    }
    probe_close(file);
    return 0;
}

static long connections(void) {
    long folder = probe_open_folder("/proc/self/fd");
    if (folder < 0) return folder;
    long count;
    while ((count = probe_entries(folder, piece, 8192)) > 0)
        for (long at = 0; at < count; at += *(unsigned short *)(void *)(piece + at + 16)) {
            long number = 0;
            for (const char *digit = piece + at + 19; *digit >= '0' && *digit <= '9'; digit++)
                number = number * 10 + *digit - '0';
            if (piece[at + 19] == '.') continue;
            long peer = probe_peer_port(number);
            int listens;
            if (peer > 0 || peer == -ENOTCONN) probe_own_port(number, &listens);
        }
    probe_close(folder);
    return count;
}

static long functions(void) {
    const uint64_t addresses[] = {
        (uint64_t)accept, (uint64_t)close, (uint64_t)connect, (uint64_t)getpeername, (uint64_t)open,
        (uint64_t)poll, (uint64_t)pread, (uint64_t)pwrite, (uint64_t)read, (uint64_t)recv,
        (uint64_t)recvmsg, (uint64_t)send, (uint64_t)sendmsg, (uint64_t)socket, (uint64_t)write,
    };
    return probe_memories(addresses, sizeof addresses / sizeof *addresses, piece, 16);
}

long bare_quick_look(void) {
    long result = all_regions();
    if (result >= 0) result = changed_pages();
    if (result >= 0) result = read_all("/proc/self/status");
    if (result >= 0) result = connections();
    if (result >= 0) result = functions();
    return result < 0 ? result : 0;
}

long bare_whole_look(void) {
    long total = 0, count = all_regions();
    for (long i = 0; i < count; i++) {
        const probe_mapping *mapping = &regions[i].mapping;
        if (mapping->inode == 0) continue;
        long file = probe_open(regions[i].name);
        if (file < 0) continue;
        for (uint64_t at = 0; at < mapping->end - mapping->start;) {
            uint64_t left = mapping->end - mapping->start - at;
            long got = probe_read_at(file, piece, left < sizeof piece ? (long)left : (long)sizeof piece,
                                     (long)(mapping->offset + at));
            if (got <= 0) break;
            if (memcmp(piece, (const void *)(mapping->start + at), (size_t)got) != 0) total++;
            at += (uint64_t)got;
            total += got;
        }
        probe_close(file);
    }
    return total;
}

#else

long bare_quick_look(void) { return -1; }
long bare_whole_look(void) { return -1; }

#endif
