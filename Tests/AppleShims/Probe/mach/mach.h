// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#pragma once
#include <pthread.h>
#include <stdint.h>

typedef int kern_return_t;
typedef unsigned natural_t, mach_msg_type_number_t, mach_port_t, thread_act_t;
typedef uintptr_t vm_address_t, vm_size_t;
typedef thread_act_t *thread_act_array_t;
typedef int *vm_region_recurse_info_t;
typedef int vm_prot_t;

#define KERN_SUCCESS 0

typedef struct vm_region_submap_info_64 {
    vm_prot_t protection, max_protection;
    unsigned inheritance;
    unsigned long long offset;
    unsigned user_tag, pages_resident, pages_shared_now_private, pages_swapped_out, pages_dirtied, ref_count;
    unsigned short shadow_depth;
    unsigned char external_pager, share_mode;
    int is_submap;
} vm_region_submap_info_data_64_t;
#define VM_REGION_SUBMAP_INFO_COUNT_64 ((mach_msg_type_number_t)(sizeof(vm_region_submap_info_data_64_t) / sizeof(natural_t)))

mach_port_t mach_task_self(void);
kern_return_t vm_read_overwrite(mach_port_t, vm_address_t, vm_size_t, vm_address_t, vm_size_t *);
kern_return_t vm_region_recurse_64(
    mach_port_t, vm_address_t *, vm_size_t *, natural_t *, vm_region_recurse_info_t, mach_msg_type_number_t *);
kern_return_t vm_deallocate(mach_port_t, vm_address_t, vm_size_t);
kern_return_t task_threads(mach_port_t, thread_act_array_t *, mach_msg_type_number_t *);
kern_return_t mach_port_deallocate(mach_port_t, mach_port_t);
pthread_t pthread_from_mach_thread_np(mach_port_t);
