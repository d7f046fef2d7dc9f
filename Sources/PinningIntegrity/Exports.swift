// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@_exported public import RuntimeIntegrity
