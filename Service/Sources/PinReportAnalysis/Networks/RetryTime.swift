// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The value of `Retry-After`, in seconds: the length of the line, and up to a third more by chance, so that those who
/// were turned away in one moment do not come back in one moment. Never more than four hours (changes of the contract,
/// 12).
package enum RetryTime {
    /// The maximum length of a line, in seconds: three hours.
    static let maximumLine: Int64 = 10_800
    /// The maximum wait that an answer names, in seconds: four hours, as long as a client waits at the most between its
    /// own attempts.
    package static let maximum: Int64 = 14_400

    /// A time, at least a second.
    ///
    /// - Parameters:
    ///   - line: The length of the line, in seconds.
    ///   - random: The random source: the system's generator, but in tests.
    package static func seconds(_ line: Int64, using random: inout some RandomNumberGenerator) -> Int64 {
        let line = min(max(line, 1), Self.maximumLine)
        return line + Int64.random(in: 0...(line / 3), using: &random)
    }
}
