// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#pragma once
char ***_NSGetEnviron(void);
