// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// What kind of thing a signal tells of.
///
/// Two signals are independent only when their families differ: one cause (an update of a library beneath a running
/// process, a tool of the operator's own) shows itself in several signals of one family, seldom in two families.
public struct SignalFamily: Hashable, Sendable, CustomStringConvertible {
    /// The name, in lower case with hyphens.
    public let description: String

    private init(_ name: String) { self.description = name }

    /// Foreign code is in the process.
    public static let injection = Self("injection")
    /// Code that belongs here was changed.
    public static let code = Self("code")
    /// A debugger or tracer.
    public static let debugger = Self("debugger")
    /// What the environment was set to before the start.
    public static let environment = Self("environment")
    /// Threads that are not the app's.
    public static let threads = Self("threads")
    /// Descriptors that are not the app's.
    public static let descriptors = Self("descriptors")
    /// Ports and connections of tools.
    public static let network = Self("network")
    /// The device gives more than a device in its factory state.
    public static let jailbreak = Self("jailbreak")
    /// The program is not as it was distributed: it was packaged again.
    public static let repackaging = Self("repackaging")
    /// A known answer came out wrong.
    public static let canary = Self("canary")
    /// Signals of an app's own detectors.
    public static let app = Self("app")
}
