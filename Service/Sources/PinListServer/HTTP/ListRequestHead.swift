// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The head of a request for a list or a root that leaves nothing in doubt, read from its bytes (``RequestHeadBytes``).
struct ListRequestHead: Hashable, Sendable {
    /// The path: letters, digits, `.`, `_`, `-` and `/`.
    let path: String
    /// `If-None-Match` without the blanks around it; `nil` when it is not there.
    let ifNoneMatch: String?
    /// The length in bytes, the empty line at its end included.
    let length: Int

    /// The beginning of every request for a list.
    private static let start = Array("GET /v1/lists/".utf8)
    private static let ifNoneMatch = Array("if-none-match".utf8)

    /// Reads the head at the begin of some bytes; `nil` for what is none of this kind, or has no end among them.
    init?(reading whole: UnsafeRawBufferPointer) {
        let bytes = RequestHeadBytes(whole)
        guard bytes.start(with: Self.start) else { return nil }
        var index = Self.start.count
        while let byte = bytes[index], Self.mayStandInPath(byte) { index += 1 }
        var tag: String?
        let length = bytes.readFields(behind: index) { name, value in
            guard name == Self.ifNoneMatch, tag == nil else { return false }
            tag = String(decoding: value, as: UTF8.self)
            return true
        }
        guard let length else { return nil }
        self.path = bytes.text(4..<index)
        self.ifNoneMatch = tag
        self.length = length
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
