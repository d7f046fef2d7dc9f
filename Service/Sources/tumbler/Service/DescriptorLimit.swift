// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// How many descriptors the system allows this process.
enum DescriptorLimit {
    /// `RLIMIT_NOFILE`, the soft one (getrlimit(2)); `nil` where there is none, or it cannot be told.
    static var current: Int? {
        var limit = rlimit()
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { return nil }
        return Int(exactly: limit.rlim_cur)
    }
}
