// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A pin that an entry expects, with the place in the path where it may stand ("Known Pin" in RFC 7469).
public struct KnownPin: Hashable, Sendable {
    /// The position of a pin: which certificates of the validated path it may match.
    public enum Position: String, Hashable, Sendable, CaseIterable {
        /// Any certificate of the path.
        case any
        /// The server's own certificate alone.
        case leaf
        /// Any certificate above the leaf, the anchor included.
        case issuer

        /// Whether a certificate at this index of the path, the leaf being 0, may match.
        public func covers(index: Int) -> Bool {
            switch self {
            case .any: true
            case .leaf: index == 0
            case .issuer: index > 0
            }
        }
    }

    /// The hash.
    public var pin: Pin

    /// The position in the path at which it may match.
    public var position: Position

    /// The publisher's note, such as `current` or `backup`. Published, so not for secrets.
    public var note: String?

    /// Creates a known pin.
    public init(_ pin: Pin, position: Position = .any, note: String? = nil) {
        self.pin = pin
        self.position = position
        self.note = note
    }
}
