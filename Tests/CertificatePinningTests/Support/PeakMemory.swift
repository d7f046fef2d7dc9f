// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(Darwin)
import Darwin
#endif

/// The most memory in bytes that this process has had so far, or `nil` where the system does not say.
func peakMemory() -> Int? {
    #if canImport(Darwin)
    var usage = rusage()
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : nil
    #else
    // Not getrusage: there Linux counts what the parent had when it started this process.
    let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line?.split(separator: " ").dropLast().last.flatMap { Int($0) }.map { $0 * 1_024 }
    #endif
}
