// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#ifndef TUMBLER_CPQ_SHIM_H
#define TUMBLER_CPQ_SHIM_H

// PostgreSQL's own client library, of the system. Only the trait PostgreSQL needs it.
#include <libpq-fe.h>

#endif
