// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
/// A data item of CBOR (RFC 8949), of the part that App Attest writes: no tags, no floating-point numbers, no simple
/// values but booleans and null.
@_spi(Parsers) public enum CBORValue: Hashable, Sendable {
    /// An unsigned integer: major type 0.
    case unsigned(UInt64)
    /// The negative integer −1 − n: major type 1.
    case negative(UInt64)
    /// A byte string: major type 2.
    case bytes([UInt8])
    /// A text as its UTF-8: major type 3. Not a `String`, which is equal to others that are written differently.
    case text([UInt8])
    /// An array: major type 4.
    case array([CBORValue])
    /// A map, each key once: major type 5.
    case map([CBORValue: CBORValue])
    /// False or true.
    case boolean(Bool)
    /// Null.
    case null

    /// The member of a map with a text as its key; `nil` where there is none, or this is no map.
    @_spi(Parsers) public subscript(_ key: String) -> CBORValue? {
        guard case .map(let members) = self else { return nil }
        return members[.text(Array(key.utf8))]
    }

    /// The bytes of a byte string.
    var asBytes: [UInt8]? {
        guard case .bytes(let bytes) = self else { return nil }
        return bytes
    }

    /// The text of a text.
    var asText: String? {
        guard case .text(let text) = self else { return nil }
        return String(decoding: text, as: UTF8.self)
    }
}
#endif
