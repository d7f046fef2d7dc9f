// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// What only an adapter knows of a connection, for reports. The verdict does not depend on any of it.
public struct ConnectionFacts: Hashable, Sendable {
    /// The port.
    public var port: Int
    /// What the server presented, as DER, leaf first; empty where the platform shows only what it validated.
    public var presented: [[UInt8]]
    /// Whether a web view asked: it goes where pages send it, and failures of hosts that no entry covers are nobody's
    /// business then.
    public var isWebView: Bool
    /// What was noticed of tampering with this process.
    public var signals: [String]

    /// States facts.
    public init(port: Int = 443, presented: [[UInt8]] = [], isWebView: Bool = false, signals: [String] = []) {
        self.port = port
        self.presented = presented
        self.isWebView = isWebView
        self.signals = signals
    }
}
