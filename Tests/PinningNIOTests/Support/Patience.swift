// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import NIOCore
import Testing

extension TimeAmount {
    /// The time for what must come: met by a hang alone, on a machine however slow.
    static var ample: TimeAmount { .minutes(10) }
}

/// Tries a time-out, then one four times as long, until one was long enough for this machine to get to what must end with
/// it.
///
/// - Parameter body: Whether it got there.
func withTimeouts(from first: TimeAmount, _ body: (TimeAmount) async throws -> Bool) async throws {
    var timeout = first
    while timeout < .ample {
        if try await body(timeout) { return }
        timeout = timeout * 4
    }
    Issue.record("no time-out was long enough")
}
#endif
