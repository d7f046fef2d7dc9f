// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL

extension StoreLock {
    /// The number of the advisory lock that stands for it.
    var number: Int64 { PostgreSQLLimits.firstLock + self.rawValue }
}
#endif
