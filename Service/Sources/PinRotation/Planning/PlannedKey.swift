// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// A key of a rotation: its pin, and who could find the private half.
public struct PlannedKey: Hashable, Sendable {
    /// The pin.
    public var pin: Pin

    /// Where in a path it matches.
    public var position: KnownPin.Position

    /// Where the private key is kept, in words: `HSM in Frankfurt, slot 3`.
    public var kept: String?

    /// Who holds it, in words; none where that is not said.
    public var heldBy: [String]

    /// States a key.
    public init(_ pin: Pin, position: KnownPin.Position = .any, kept: String? = nil, heldBy: [String] = []) {
        self.pin = pin
        self.position = position
        self.kept = kept
        self.heldBy = heldBy
    }

    /// Whether it is in a path: one of the pins of its keys, leaf first, at a position that counts.
    ///
    /// - Parameter pins: The pins of a path; `nil` for a key that cannot be read.
    public func isIn(_ pins: [Pin?]) -> Bool {
        pins.indices.contains { pins[$0] == self.pin && self.position.covers(index: $0) }
    }
}
