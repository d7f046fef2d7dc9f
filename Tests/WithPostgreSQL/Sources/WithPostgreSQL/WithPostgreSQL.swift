// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

// Nothing: what this package is for stands in its manifest.
