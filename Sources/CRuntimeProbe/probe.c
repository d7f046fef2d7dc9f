// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

// Everything is in the header, inlined into its callers: a function here would be one place to hook.
#include "CRuntimeProbe.h"
