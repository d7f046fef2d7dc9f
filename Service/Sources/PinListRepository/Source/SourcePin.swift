// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// A pin of an entry, and what is known of it beyond what is published.
public struct SourcePin: Hashable, Sendable {
    /// The pin, as it is published.
    public var known: KnownPin

    /// Where it was written.
    public let position: SourcePosition

    /// Whether it is from a certificate of an authority, by a `cert:` file. `false` says nothing.
    public let isAuthority: Bool

    /// Whether it is from an authority that names itself as its issuer: an anchor.
    public let isAnchor: Bool

    /// Equal when what is published is.
    public static func == (left: SourcePin, right: SourcePin) -> Bool { left.known == right.known }

    /// Feeds what `==` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.known) }
}
