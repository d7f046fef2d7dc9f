// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

// The few calls of the system by which RuntimeIntegrity looks at its own process.
//
// On Linux they are system calls, made here and not by libc: a hook of `open` or `read` in libc does not see them, and
// the code of each is inlined into each of its callers, so that there is no one function to hook. On Apple's systems
// they are libc's functions: system calls have no stable numbers there, and apps may not make them directly.
//
// All return the kernel's result, or the negative `errno`.

#ifndef C_RUNTIME_PROBE_H
#define C_RUNTIME_PROBE_H

#include <stddef.h>
#include <stdint.h>

#define PROBE static inline __attribute__((always_inline))

#if defined(__linux__)

#include <sys/syscall.h>

// linux/fcntl.h and others, which do not go well together with libc's headers.
#define PROBE_AT_FDCWD (-100L)
#define PROBE_O_CLOEXEC 02000000L
#if defined(__aarch64__)
#define PROBE_O_DIRECTORY 040000L
#else
#define PROBE_O_DIRECTORY 0200000L
#endif

#if defined(__x86_64__)

PROBE long probe_call(long number, long a, long b, long c, long d, long e, long f) {
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#elif defined(__aarch64__)

PROBE long probe_call(long number, long a, long b, long c, long d, long e, long f) {
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

#else

// Another processor: libc's function, which can be hooked at one place.
#include <errno.h>
#include <unistd.h>

PROBE long probe_call(long number, long a, long b, long c, long d, long e, long f) {
    long result = syscall(number, a, b, c, d, e, f);
    return result == -1 ? -errno : result;
}

#endif

PROBE long probe_open(const char *path) {
    return probe_call(SYS_openat, PROBE_AT_FDCWD, (long)path, PROBE_O_CLOEXEC, 0, 0, 0);
}

PROBE long probe_open_folder(const char *path) {
    return probe_call(SYS_openat, PROBE_AT_FDCWD, (long)path, PROBE_O_CLOEXEC | PROBE_O_DIRECTORY, 0, 0, 0);
}

PROBE long probe_read(long file, void *into, size_t count) {
    return probe_call(SYS_read, file, (long)into, (long)count, 0, 0, 0);
}

PROBE long probe_read_at(long file, void *into, size_t count, int64_t offset) {
    return probe_call(SYS_pread64, file, (long)into, (long)count, (long)offset, 0, 0);
}

PROBE long probe_close(long file) { return probe_call(SYS_close, file, 0, 0, 0, 0, 0); }

// Entries of a folder as the kernel gives them: 8 bytes inode, 8 offset, 2 length of the entry, 1 type, the name, a 0.
PROBE long probe_entries(long folder, void *into, size_t count) {
    return probe_call(SYS_getdents64, folder, (long)into, (long)count, 0, 0, 0);
}

PROBE long probe_link(const char *path, char *into, size_t count) {
    return probe_call(SYS_readlinkat, PROBE_AT_FDCWD, (long)path, (long)into, (long)count, 0, 0);
}

PROBE long probe_exists(const char *path) {
    return probe_call(SYS_faccessat, PROBE_AT_FDCWD, (long)path, 0, 0, 0, 0);
}

// A mapping, as PROCMAP_QUERY (Linux 6.11, linux/fs.h) fills it in. Declared here: headers on build machines are older.
typedef struct {
    uint64_t size, query_flags, query_address;
    uint64_t start, end, flags, page_size, offset, inode;
    uint32_t major, minor, name_size, build_id_size;
    uint64_t name_address, build_id_address;
} probe_mapping;

// The first executable mapping at or behind an address. `file` is /proc/self/maps. Its flags: 1 for reading, 2 for
// writing, 4 for executing, 8 for sharing. -ENOENT behind the last one; -ENOTTY before Linux 6.11.
PROBE long probe_next_executable(long file, uint64_t address, probe_mapping *mapping, char *name, uint32_t name_size) {
    *mapping = (probe_mapping){.size = sizeof *mapping,
                               .query_flags = 0x04 | 0x10, // VMA_EXECUTABLE, COVERING_OR_NEXT_VMA
                               .query_address = address,
                               .name_size = name_size,
                               .name_address = (uint64_t)name};
    return probe_call(SYS_ioctl, file, 0xC0686611L, (long)mapping, 0, 0, 0);
}

// How many pages of a range are in memory, or swapped out, and are not a file's, by PAGEMAP_SCAN (Linux 6.7,
// linux/fs.h). `file` is /proc/self/pagemap. -ENOTTY before Linux 6.7.
PROBE long probe_changed_pages(long file, uint64_t start, uint64_t end, uint64_t page_size) {
    struct {
        uint64_t size, flags, start, end, walk_end, ranges, ranges_count, most_pages;
        uint64_t inverted, all_of, any_of, returned;
    } scan = {.size = 96,
              .start = start,
              .end = end,
              .inverted = 1 << 2, // PAGE_IS_FILE
              .all_of = 1 << 2,
              .any_of = 1 << 3 | 1 << 4, // PAGE_IS_PRESENT, PAGE_IS_SWAPPED
              .returned = 1 << 3 | 1 << 4};
    struct {
        uint64_t start, end, categories;
    } ranges[16];
    long pages = 0;
    scan.ranges = (uint64_t)ranges;
    scan.ranges_count = 16;
    do {
        long count = probe_call(SYS_ioctl, file, 0xC0606610L, (long)&scan, 0, 0, 0);
        if (count < 0) return count;
        for (long range = 0; range < count; range++)
            pages += (long)((ranges[range].end - ranges[range].start) / page_size);
        if (scan.walk_end <= scan.start) break;
        scan.start = scan.walk_end;
    } while (scan.start < end);
    return pages;
}

// The port of the other end of a connected TCP socket; 0 for other sockets.
PROBE long probe_peer_port(long file) {
    unsigned char address[128];
    unsigned int length = sizeof address;
    long result = probe_call(SYS_getpeername, file, (long)address, (long)&length, 0, 0, 0);
    if (result < 0) return result;
    unsigned short family = *(unsigned short *)(void *)address;
    // AF_INET and AF_INET6: the port is at the same place.
    return family == 2 || family == 10 ? (long)address[2] << 8 | address[3] : 0;
}

// The port of this end of a TCP socket, and whether others can connect to it there; 0 for other sockets.
PROBE long probe_own_port(long file, int *listens) {
    unsigned char address[128];
    unsigned int length = sizeof address, size = sizeof *listens;
    *listens = 0;
    long result = probe_call(SYS_getsockname, file, (long)address, (long)&length, 0, 0, 0);
    if (result < 0) return result;
    unsigned short family = *(unsigned short *)(void *)address;
    if (family != 2 && family != 10) return 0;
    // SOL_SOCKET, SO_ACCEPTCONN.
    result = probe_call(SYS_getsockopt, file, 1, 30, (long)listens, (long)&size, 0);
    if (result < 0) return result;
    return (long)address[2] << 8 | address[3];
}

// Reads this process's memory; an address that is not mapped is an error and no crash.
PROBE long probe_memory(uint64_t address, void *into, size_t count) {
    struct {
        uint64_t base, length;
    } ours = {(uint64_t)into, count}, theirs = {address, count};
    long self = probe_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
    return probe_call(SYS_process_vm_readv, self, (long)&ours, 1, (long)&theirs, 1, 0);
}

// The same of up to 64 places at once, so many bytes of each. Less than all where one is not mapped.
PROBE long probe_memories(const uint64_t *addresses, size_t places, void *into, size_t count) {
    struct {
        uint64_t base, length;
    } ours = {(uint64_t)into, places * count}, theirs[64];
    if (places > 64) return -22; // EINVAL
    for (size_t place = 0; place < places; place++) {
        theirs[place].base = addresses[place];
        theirs[place].length = count;
    }
    long self = probe_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
    return probe_call(SYS_process_vm_readv, self, (long)&ours, 1, (long)theirs, (long)places, 0);
}

// A TCP socket that does not block, on its way to 127.0.0.1 at this port: its descriptor.
PROBE long probe_connect(unsigned short port) {
    // AF_INET; SOCK_STREAM, SOCK_NONBLOCK, SOCK_CLOEXEC.
    long file = probe_call(SYS_socket, 2, 1 | 04000 | 02000000, 0, 0, 0, 0);
    if (file < 0) return file;
    unsigned char address[16] = {0, 0, (unsigned char)(port >> 8), (unsigned char)port, 127, 0, 0, 1};
    *(unsigned short *)(void *)address = 2;
    long result = probe_call(SYS_connect, file, (long)address, sizeof address, 0, 0, 0);
    if (result == 0 || result == -115 /* EINPROGRESS */) return file;
    probe_close(file);
    return result;
}

// Waits until a socket can be read (events 1) or written (events 4): their sum, or 0 when the time is over.
PROBE long probe_wait(long file, short events, long milliseconds) {
    struct {
        int file;
        short events, answers;
    } wanted = {(int)file, events, 0};
    struct {
        long seconds, nanoseconds;
    } limit = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    long result = probe_call(SYS_ppoll, (long)&wanted, 1, (long)&limit, 0, 0, 0);
    return result > 0 ? wanted.answers : result;
}

PROBE long probe_send(long file, const void *bytes, size_t count) {
    // MSG_NOSIGNAL.
    return probe_call(SYS_sendto, file, (long)bytes, (long)count, 0x4000, 0, 0);
}

PROBE long probe_parent_id(void) { return probe_call(SYS_getppid, 0, 0, 0, 0, 0, 0); }

// An address in the code that calls this.
PROBE uint64_t probe_here(void) {
    uint64_t here = 0;
#if defined(__x86_64__)
    __asm__("lea 0(%%rip), %0" : "=r"(here));
#elif defined(__aarch64__)
    __asm__("adr %0, ." : "=r"(here));
#endif
    return here;
}

// Ends the process without asking libc.
PROBE void probe_end(int status) {
    probe_call(SYS_exit_group, status, 0, 0, 0, 0, 0);
    __builtin_trap();
}

#elif defined(__APPLE__)

// Written from Apple's documentation, and not yet compiled or run on an Apple system.

#include <TargetConditionals.h>
#include <crt_externs.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mach-o/dyld.h>
#include <mach/mach.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/proc.h>
#include <sys/socket.h>
#include <sys/sysctl.h>
#include <sys/wait.h>
#include <unistd.h>

PROBE long probe_result(long result) { return result < 0 ? -(long)errno : result; }

PROBE long probe_open(const char *path) { return probe_result(open(path, O_RDONLY | O_CLOEXEC)); }

PROBE long probe_read(long file, void *into, size_t count) { return probe_result(read((int)file, into, count)); }

PROBE long probe_close(long file) { return probe_result(close((int)file)); }

PROBE long probe_link(const char *path, char *into, size_t count) {
    return probe_result(readlink(path, into, count));
}

PROBE long probe_exists(const char *path) { return probe_result(access(path, F_OK)); }

PROBE long probe_peer_port(long file) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getpeername((int)file, (struct sockaddr *)&address, &length) < 0) return -(long)errno;
    if (address.ss_family == AF_INET) return ntohs(((struct sockaddr_in *)&address)->sin_port);
    if (address.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    return 0;
}

// The port of this end of a TCP socket, and whether others can connect to it there; 0 for other sockets. SO_ACCEPTCONN
// is in the kernel's header, but getsockopt refuses it there: a socket that has a port and no peer is taken to listen.
PROBE long probe_own_port(long file, int *listens) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    int type = 0;
    socklen_t size = sizeof type;
    *listens = 0;
    if (getsockopt((int)file, SOL_SOCKET, SO_TYPE, &type, &size) < 0) return -(long)errno;
    if (type != SOCK_STREAM) return 0;
    if (getsockname((int)file, (struct sockaddr *)&address, &length) < 0) return -(long)errno;
    long port = 0;
    if (address.ss_family == AF_INET) port = ntohs(((struct sockaddr_in *)&address)->sin_port);
    if (address.ss_family == AF_INET6) port = ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    *listens = port > 0 && probe_peer_port(file) == -ENOTCONN;
    return port;
}

// The path that a descriptor leads to. `into` has MAXPATHLEN bytes, 1,024.
PROBE long probe_descriptor_path(long file, char *into) {
    long result = probe_result(fcntl((int)file, F_GETPATH, into));
    return result < 0 ? result : (long)strlen(into);
}

PROBE long probe_memory(uint64_t address, void *into, size_t count) {
    vm_size_t got = 0;
    kern_return_t result =
        vm_read_overwrite(mach_task_self(), (vm_address_t)address, count, (vm_address_t)into, &got);
    return result == KERN_SUCCESS ? (long)got : -(long)EFAULT;
}

// A region of memory: 1 for reading, 2 for writing, 4 for executing; how many of its pages were a file's, or shared,
// and are not any more; whether a file is behind it; whether it belongs to what all processes share.
typedef struct {
    uint64_t start, end, offset;
    uint32_t flags, changed, has_file, is_shared;
} probe_region;

// The first region at or behind an address; -ENOENT behind the last one.
PROBE long probe_next_region(uint64_t address, probe_region *region) {
    vm_address_t start = (vm_address_t)address;
    vm_size_t size = 0;
    // One level down: into the cache of libraries that all processes share.
    natural_t depth = 1;
    vm_region_submap_info_data_64_t information;
    mach_msg_type_number_t count = VM_REGION_SUBMAP_INFO_COUNT_64;
    kern_return_t result = vm_region_recurse_64(
        mach_task_self(), &start, &size, &depth, (vm_region_recurse_info_t)&information, &count);
    if (result != KERN_SUCCESS) return -(long)ENOENT;
    *region = (probe_region){.start = start,
                             .end = start + size,
                             .offset = information.offset,
                             .flags = (uint32_t)information.protection & 7,
                             .changed = information.pages_shared_now_private,
                             .has_file = information.external_pager,
                             .is_shared = depth > 0};
    return 0;
}

// The path of the image that an address is in; NULL when it is in none.
PROBE const char *probe_image_of(uint64_t address) {
    Dl_info information;
    return dladdr((const void *)address, &information) ? information.dli_fname : NULL;
}

PROBE uint32_t probe_images(void) { return _dyld_image_count(); }

PROBE const char *probe_image(uint32_t index) { return _dyld_get_image_name(index); }

PROBE char **probe_environment(void) { return *_NSGetEnviron(); }

// How many threads there are. Their names are written one behind the other, each with a zero, as far as there is room.
PROBE long probe_threads(char *into, size_t count) {
    thread_act_array_t threads;
    mach_msg_type_number_t number = 0;
    if (task_threads(mach_task_self(), &threads, &number) != KERN_SUCCESS) return -(long)EPERM;
    size_t used = 0;
    for (mach_msg_type_number_t index = 0; index < number; index++) {
        pthread_t thread = pthread_from_mach_thread_np(threads[index]);
        // MAXTHREADNAMESIZE.
        char name[64] = {0};
        if (thread) pthread_getname_np(thread, name, sizeof name);
        size_t length = strnlen(name, sizeof name - 1) + 1;
        if (used + length < count) {
            memcpy(into + used, name, length);
            used += length;
        }
        mach_port_deallocate(mach_task_self(), threads[index]);
    }
    if (used < count) into[used] = 0;
    vm_deallocate(mach_task_self(), (vm_address_t)threads, number * sizeof *threads);
    return number;
}

PROBE long probe_connect(unsigned short port) {
    int file = socket(AF_INET, SOCK_STREAM, 0);
    if (file < 0) return -(long)errno;
    int on = 1;
    fcntl(file, F_SETFD, FD_CLOEXEC);
    fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK);
    setsockopt(file, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
    struct sockaddr_in address = {0};
    address.sin_len = sizeof address;
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(file, (struct sockaddr *)&address, sizeof address) == 0 || errno == EINPROGRESS) return file;
    long error = -(long)errno;
    close(file);
    return error;
}

PROBE long probe_wait(long file, short events, long milliseconds) {
    struct pollfd wanted = {(int)file, events, 0};
    long result = probe_result(poll(&wanted, 1, (int)milliseconds));
    return result > 0 ? wanted.revents : result;
}

PROBE long probe_send(long file, const void *bytes, size_t count) {
    return probe_result(send((int)file, bytes, count, 0));
}

PROBE void probe_end(int status) { _exit(status); }

// What the kernel has of a process: 0, or an error. For a process that it does not show it answers with success and
// nothing: -ESRCH.
PROBE long probe_process(struct kinfo_proc *information, pid_t process) {
    const struct kinfo_proc nothing = {0};
    size_t size = sizeof *information;
    int name[4] = {CTL_KERN, KERN_PROC, KERN_PROC_PID, process};
    *information = nothing;
    if (sysctl(name, 4, information, &size, NULL, 0) < 0) return -(long)errno;
    return size < sizeof *information ? -(long)ESRCH : 0;
}

// Whether a debugger traces this process: 1 or 0. Source: Apple's Technical Q&A QA1361.
PROBE long probe_traced(void) {
    struct kinfo_proc information;
    long failure = probe_process(&information, getpid());
    return failure < 0 ? failure : (information.kp_proc.p_flag & P_TRACED) != 0;
}

// The name of the parent, of which the kernel keeps MAXCOMLEN bytes, 16.
PROBE long probe_parent(char *into, size_t count) {
    struct kinfo_proc information;
    size_t length = 0;
    long failure = probe_process(&information, getppid());
    if (failure < 0) return failure;
    while (length < count && length < 16 && information.kp_proc.p_comm[length]) {
        into[length] = information.kp_proc.p_comm[length];
        length++;
    }
    return (long)length;
}

// Whether a new file can be made: 1 or 0. It is removed.
PROBE long probe_can_write(const char *path) {
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return 0;
    close(file);
    unlink(path);
    return 1;
}

// Whether there can be a child, which ends at once: 1 or 0.
PROBE long probe_can_fork(void) {
#if TARGET_OS_IOS && !TARGET_OS_MACCATALYST && !TARGET_OS_SIMULATOR
    pid_t child = fork();
    if (child < 0) return 0;
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
    return 1;
#else
    return -(long)ENOTSUP;
#endif
}

#endif

#endif
