// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A value of strict JSON (RFC 8259), with what signed metadata refuses on top: a member twice in one object, and a
/// number with a fraction or an exponent (formats.md, section 3).
///
/// Names and strings are compared byte by byte where it matters; Swift's own `==` takes canonically equivalent texts
/// for equal.
public enum JSONValue: Hashable, Sendable {
    /// `null`
    case null
    /// `true` or `false`
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// A text.
    case string(String)
    /// An ordered list.
    case array([JSONValue])
    /// Members in the order in which they were written, each name once.
    case object([Member])

    /// One member of an object.
    public struct Member: Hashable, Sendable {
        /// Its name, unescaped.
        public let name: String
        /// The value of the member.
        public let value: JSONValue

        /// Creates a member.
        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// The defect of bytes that are not strict JSON.
    public struct ParsingError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The defect in a few words.
        public let reason: String
        /// The offset in bytes from the beginning.
        public let offset: Int

        /// ``reason`` and ``offset``.
        public var description: String { "not strict JSON: \(self.reason) at byte \(self.offset)" }
    }

    /// The numbers that are accepted.
    public enum Numbers: Hashable, Sendable {
        /// Whole numbers of 64 bits; any other number is refused. Signed metadata has no others.
        case whole
        /// All of RFC 8259, section 6, of which the whole part is kept: `0.5` is 0. A number with an exponent or beyond
        /// 64 bits is ``JSONValue/null``. For reports of browsers and other senders: no member that is read of them
        /// needs more.
        case truncated
        /// All of RFC 8259, section 6: a number that is no whole one of 64 bits is the ``JSONValue/string(_:)`` that was
        /// written. For senders whose shares count.
        case written
    }

    /// The maximum nesting of arrays and objects. Metadata needs five levels; the parser recurses.
    public static let maximumDepth = 32

    /// Reads exactly one value, with nothing but white space around it.
    ///
    /// Work and memory are linear in the length of the bytes, which callers bound first.
    ///
    /// - Parameters:
    ///   - bytes: UTF-8 without a byte order mark.
    ///   - maximumValues: The maximum number of values, nested ones included. A value takes up to 30 times the memory of
    ///     its text, so unsigned bytes are bounded.
    ///   - numbers: The numbers that are accepted.
    /// - Throws: ``ParsingError``.
    public init(strict bytes: [UInt8], maximumValues: Int = .max, numbers: Numbers = .whole) throws(ParsingError) {
        var parser = JSONParser(bytes, maximumValues: maximumValues, numbers: numbers)
        self = try parser.document()
    }
}
