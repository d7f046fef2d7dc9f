// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0
#ifndef TUMBLER_PUBLIC_SUFFIXES_H
#define TUMBLER_PUBLIC_SUFFIXES_H

/// The rules of the Public Suffix List as A-labels, each followed by a line break, with a zero at the end.
const char *tumbler_public_suffixes(void);

#endif
