// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore

/// How many processors this process may run on.
enum ProcessorCount {
    /// Those that the system gives it (`Cpus_allowed` of proc(5), as `taskset` sets it), and no more than its group may
    /// use: two threads that serve on one processor take turns, and each turn costs more than the answer to a request.
    static var current: Int {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("Cpus_allowed:") })
        else { return System.coreCount }
        // A mask in hexadecimal digits, with commas between groups.
        let allowed = line.dropFirst("Cpus_allowed:".count).reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) }
        return max(1, min(allowed, System.coreCount))
    }
}
