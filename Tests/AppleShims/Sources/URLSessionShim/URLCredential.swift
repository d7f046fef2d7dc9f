// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import SecurityShim

/// What answers a challenge.
///
/// `@unchecked Sendable`: because nothing of it changes.
open class URLCredential: NSObject, @unchecked Sendable {
    /// How long it is remembered.
    public enum Persistence: UInt, Sendable {
        /// Not at all.
        case none = 0
        /// As long as the session.
        case forSession = 1
        /// In the keychain.
        case permanent = 2
        /// In the keychain, and on the user's other devices.
        case synchronizable = 3
    }

    /// The user's name.
    public let user: String?
    /// The user's password.
    public let password: String?
    /// How long it is remembered.
    public let persistence: Persistence
    /// The trust object that is accepted.
    package let trust: SecTrust?

    /// A name and a password.
    public init(user: String, password: String, persistence: Persistence) {
        self.user = user
        self.password = password
        self.persistence = persistence
        self.trust = nil
    }

    /// Accepts a server's chain, whether it was evaluated or not.
    public init(trust: SecTrust) {
        self.user = nil
        self.password = nil
        self.persistence = .forSession
        self.trust = trust
    }

    /// Whether there is a password.
    open var hasPassword: Bool { self.password != nil }
}
