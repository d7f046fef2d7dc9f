// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The bytes of the head of a request that may be answered before it is decoded.
///
/// It is deliberately narrow: HTTP/1.1, a path without escapes, one `Host`, and only fields that are known to change
/// nothing about framing. All else is none of these, and goes the long way: a request that a proxy in front may have read
/// differently is never read here (RFC 9112, section 11.2).
///
/// Unsafe because each byte is looked at, for every request; each index is compared with the count before.
struct RequestHeadBytes {
    /// The maximum number of bytes of a head that is read here: what is longer goes the long way (decision 0052).
    static let maximumBytes = 4_096
    /// The maximum number of fields of a head that is read here; more go the long way.
    static let maximumFields = 32
    /// The maximum length of a name that is known here; a field with a longer one is not known.
    private static let maximumName = 20

    private static let version = Array(" HTTP/1.1\r\n".utf8)
    /// Fields that are passed over: they change no answer here, and nothing about how a request is framed.
    private static let ignored = Self.names([
        "accept", "accept-language", "accept-encoding", "user-agent", "cache-control", "pragma", "priority",
    ])
    private static let host = Array("host".utf8)
    private static let connection = Array("connection".utf8)
    private static let keepAlive = Array("keep-alive".utf8)

    private let bytes: UnsafeRawBufferPointer

    /// The beginning of some bytes, which may go on behind the head.
    init(_ whole: UnsafeRawBufferPointer) {
        self.bytes = UnsafeRawBufferPointer(rebasing: whole.prefix(Self.maximumBytes))
    }

    /// Names of fields, in lower case.
    static func names(_ names: [String]) -> Set<[UInt8]> { Set(names.map { Array($0.utf8) }) }

    /// Whether they begin with a method and a path, or the beginning of one.
    func start(with start: [UInt8]) -> Bool { self.bytes.starts(with: start) }

    /// The byte at a place; `nil` behind the end.
    subscript(index: Int) -> UInt8? { index < self.bytes.count ? self.bytes[index] : nil }

    /// The text at some places within the bytes.
    func text(_ range: Range<Int>) -> String { String(decoding: self.bytes[range], as: UTF8.self) }

    /// Reads the version and the fields.
    ///
    /// - Parameters:
    ///   - start: The place behind the path.
    ///   - read: The closure that gets each field that is not known here, with its name in lower case. It returns whether
    ///     the field leaves nothing in doubt.
    /// - Returns: The length of the head in bytes, the empty line at its end included; `nil` for a head that is in doubt, or
    ///   has no end among the bytes.
    func readFields(behind start: Int, _ read: ([UInt8], Slice<UnsafeRawBufferPointer>) -> Bool) -> Int? {
        guard start <= self.bytes.count, self.bytes[start...].starts(with: Self.version) else { return nil }
        var index = start + Self.version.count
        var (hosts, fields) = (0, 0)
        while true {
            guard index + 1 < self.bytes.count else { return nil }
            if self.bytes[index] == 0x0d {
                return self.bytes[index + 1] == 0x0a && hosts == 1 ? index + 2 : nil
            }
            fields += 1
            guard fields <= Self.maximumFields, let field = self.field(&index) else { return nil }
            switch field.name {
            case Self.host:
                hosts += 1
                guard !field.value.isEmpty, field.value.allSatisfy({ HostByte.mayStandInHost($0) }) else { return nil }
            case Self.connection:
                guard field.value.count == Self.keepAlive.count,
                    zip(field.value, Self.keepAlive).allSatisfy({ $0 | 0x20 == $1 })
                else { return nil }
            default: guard Self.ignored.contains(field.name) || read(field.name, field.value) else { return nil }
            }
        }
    }

    /// Reads a field with its line break; `nil` for one that is written in an unusual way.
    private func field(_ index: inout Int) -> (name: [UInt8], value: Slice<UnsafeRawBufferPointer>)? {
        let bytes = self.bytes
        var name: [UInt8] = []
        name.reserveCapacity(Self.maximumName)
        while index < bytes.count, let byte = Self.lowercased(bytes[index]), name.count < Self.maximumName {
            name.append(byte)
            index += 1
        }
        guard index < bytes.count, bytes[index] == UInt8(ascii: ":") else { return nil }
        index += 1
        while index < bytes.count, bytes[index] == UInt8(ascii: " ") { index += 1 }
        let start = index
        while index < bytes.count, (0x20...0x7e).contains(bytes[index]) { index += 1 }
        guard index + 1 < bytes.count, bytes[index] == 0x0d, bytes[index + 1] == 0x0a else { return nil }
        var end = index
        while end > start, bytes[end - 1] == UInt8(ascii: " ") { end -= 1 }
        index += 2
        return (name, bytes[start..<end])
    }

    /// A letter in lower case, a digit or a hyphen; `nil` for what stands in no name that is known here.
    private static func lowercased(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"): byte
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
        default: nil
        }
    }
}
