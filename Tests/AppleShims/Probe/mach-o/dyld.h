// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#pragma once
#include <stdint.h>
uint32_t _dyld_image_count(void);
const char *_dyld_get_image_name(uint32_t index);
