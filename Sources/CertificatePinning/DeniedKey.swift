// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A key, or a certificate, that is refused anywhere in a validated path: a stolen one.
public struct DeniedKey: Hashable, Sendable {
    /// The pin of what is refused.
    public var pin: Pin

    /// Whether it is refused; otherwise a path that holds it is only reported.
    public var isEnforced: Bool

    /// What the publisher says of it. Published, so not for secrets.
    public var note: String?

    /// Creates an entry of the deny set.
    public init(_ pin: Pin, isEnforced: Bool = true, note: String? = nil) {
        self.pin = pin
        self.isEnforced = isEnforced
        self.note = note
    }
}
