// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The head of a request for a list or a root that leaves nothing in doubt, read from its bytes.
///
/// It is deliberately narrow: `GET`, HTTP/1.1, a path without escapes, one `Host`, and only fields that are known to
/// change nothing about framing or about whom it comes from. All else is none of these, and goes the long way: what a
/// proxy in front may have read differently is never read here (RFC 9112, section 11.2).
struct ListRequestHead: Hashable, Sendable {
    /// The path: letters, digits, `.`, `_`, `-` and `/`.
    let path: String
    /// `If-None-Match` without the blanks around it; `nil` when it is not there.
    let ifNoneMatch: String?
    /// The length in bytes, the empty line at its end included.
    let length: Int

    /// The most bytes of a head that is read here.
    static let maximumBytes = 4_096
    /// The most fields of a head that is read here.
    static let maximumFields = 32

    /// The beginning of every request for a list.
    private static let start = Array("GET /v1/lists/".utf8)
    private static let version = Array(" HTTP/1.1\r\n".utf8)

    /// Fields that are passed over: they change no answer here, and nothing about how a request is framed.
    private static let ignored: Set<[UInt8]> = Set(
        [
            "accept", "accept-language", "accept-encoding", "user-agent", "cache-control", "pragma", "priority",
        ].map { Array($0.utf8) })
    private static let host = Array("host".utf8)
    private static let ifNoneMatch = Array("if-none-match".utf8)
    private static let connection = Array("connection".utf8)
    private static let keepAlive = Array("keep-alive".utf8)

    /// Reads the head at the begin of some bytes; `nil` for what is none of this kind, or has no end among them.
    ///
    /// Unsafe because each byte is looked at, for every request; each index is compared with the count before.
    init?(reading bytes: UnsafeRawBufferPointer) {
        guard let read = Self.read(bytes) else { return nil }
        self = read
    }

    private init(path: String, ifNoneMatch: String?, length: Int) {
        self.path = path
        self.ifNoneMatch = ifNoneMatch
        self.length = length
    }

    private static func read(_ whole: UnsafeRawBufferPointer) -> ListRequestHead? {
        let bytes = UnsafeRawBufferPointer(rebasing: whole.prefix(Self.maximumBytes))
        guard bytes.starts(with: Self.start) else { return nil }
        var index = Self.start.count
        while index < bytes.count, Self.mayStandInPath(bytes[index]) { index += 1 }
        let path = bytes[4..<index]
        guard bytes[index...].starts(with: Self.version) else { return nil }
        index += Self.version.count
        var (hosts, fields) = (0, 0)
        var tag: String?
        while true {
            guard index + 1 < bytes.count else { return nil }
            if bytes[index] == 0x0d {
                guard bytes[index + 1] == 0x0a, hosts == 1 else { return nil }
                return ListRequestHead(
                    path: String(decoding: path, as: UTF8.self), ifNoneMatch: tag, length: index + 2)
            }
            fields += 1
            guard fields <= Self.maximumFields, let field = Self.field(bytes, &index) else { return nil }
            switch field.name {
            case Self.host:
                hosts += 1
                guard !field.value.isEmpty, field.value.allSatisfy({ HostByte.mayStandInHost($0) }) else { return nil }
            case Self.ifNoneMatch:
                guard tag == nil else { return nil }
                tag = String(decoding: field.value, as: UTF8.self)
            case Self.connection:
                guard field.value.count == Self.keepAlive.count,
                    zip(field.value, Self.keepAlive).allSatisfy({ $0 | 0x20 == $1 })
                else { return nil }
            default: guard Self.ignored.contains(field.name) else { return nil }
            }
        }
    }

    /// Reads a field with its line break; `nil` for one that is written in an unusual way.
    private static func field(
        _ bytes: UnsafeRawBufferPointer, _ index: inout Int
    ) -> (name: [UInt8], value: Slice<UnsafeRawBufferPointer>)? {
        var name: [UInt8] = []
        name.reserveCapacity(16)
        while index < bytes.count, let byte = Self.lowercased(bytes[index]), name.count < 16 {
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

    private static func mayStandInPath(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "/"):
            true
        default: false
        }
    }
}
