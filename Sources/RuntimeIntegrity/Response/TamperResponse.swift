// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// How an app wipes and ends.
public struct TamperResponse: Sendable {
    /// Removes what is secret: keys, tokens. It is called once, on the thread that noticed.
    public var wipe: @Sendable () -> Void

    /// Ends the process. It is called once, after ``wipe``.
    public var end: @Sendable () -> Void

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - wipe: Nothing, by default.
    ///   - end: The system's call, by default.
    public init(
        wipe: @escaping @Sendable () -> Void = {}, end: @escaping @Sendable () -> Void = ProcessEnd.now
    ) {
        self.wipe = wipe
        self.end = end
    }
}
