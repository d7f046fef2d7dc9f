// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
/// Why bytes are no CBOR that is read here. The rules are those of the strict reader of App Attest; the texts are for
/// people.
@_spi(Parsers) public struct CBORDefect: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, without a full stop.
    public let description: String

    /// The bytes end before the item does, or it says to be longer than what is there.
    @_spi(Parsers) public static let truncated = CBORDefect(description: "it ends too early")
    /// There are bytes after the item.
    @_spi(Parsers) public static let trailingBytes = CBORDefect(description: "bytes follow")
    /// There are more bytes than ``CBORReader/maximumLength``.
    @_spi(Parsers) public static let tooLarge = CBORDefect(description: "it is too large")
    /// Items lie within items deeper than ``CBORReader/maximumDepth``.
    @_spi(Parsers) public static let tooDeep = CBORDefect(description: "it is too deep")
    /// An item of indefinite length, or a break.
    @_spi(Parsers) public static let indefiniteLength = CBORDefect(description: "an item of indefinite length")
    /// An initial byte that has no meaning (RFC 8949, section 3).
    @_spi(Parsers) public static let reserved = CBORDefect(description: "an initial byte that is reserved")
    /// A tag.
    @_spi(Parsers) public static let tag = CBORDefect(description: "a tag")
    /// A floating-point number.
    @_spi(Parsers) public static let floatingPoint = CBORDefect(description: "a floating-point number")
    /// A simple value that is neither a boolean nor null.
    @_spi(Parsers) public static let simpleValue = CBORDefect(description: "a simple value that is not known")
    /// A text that is not UTF-8.
    @_spi(Parsers) public static let notUTF8 = CBORDefect(description: "a text that is not UTF-8")
    /// A map that has a key twice.
    @_spi(Parsers) public static let duplicateKey = CBORDefect(description: "a key that stands twice in a map")
}
#endif
