// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// What an app does about a signal.
public struct TamperAction: Hashable, Sendable, CustomStringConvertible {
    /// The action's name.
    public let description: String

    private init(_ description: String) { self.description = description }

    /// It is kept and streamed. Every signal is.
    public static let record = Self("record")
    /// Its name is attached to reports of failures.
    public static let attach = Self("attach")
    /// Pinned connections are refused from now on.
    public static let refuse = Self("refuse")
    /// The app's hook is called that removes what is secret.
    public static let wipe = Self("wipe")
    /// The process ends.
    public static let end = Self("end")
}
