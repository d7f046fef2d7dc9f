// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@testable import ServiceParsers

/// The heads of requests that the service answers from their bytes: what is taken for one must be read in no other way by
/// anything that stands in front.
enum ListRequestBytes: FuzzTarget {
    static let name = "list-request"

    /// Fields that change how a request is framed, or whom it comes from (RFC 9112, section 6; RFC 7239).
    private static let refused: Set<String> = [
        "content-length", "transfer-encoding", "te", "trailer", "upgrade", "expect", "forwarded", "via", "cookie",
        "authorization",
    ]

    static func check(_ bytes: [UInt8]) {
        guard let head = self.head(of: bytes[...]) else { return }
        precondition(head.length <= min(bytes.count, ListRequestHead.maximumBytes))
        // It needs all of its bytes, and none behind them.
        precondition(self.head(of: bytes.prefix(head.length)) == head)
        precondition(self.head(of: bytes.prefix(head.length - 1)) == nil)
        let text = String(decoding: bytes.prefix(head.length), as: UTF8.self)
        precondition(text.hasPrefix("GET \(head.path) HTTP/1.1\r\n") && text.hasSuffix("\r\n\r\n"))
        precondition(head.path.hasPrefix("/v1/lists/"))
        // Read again in the plainest way: lines that end with CR LF, and neither of the two elsewhere.
        let lines = bytes.prefix(head.length - 4).split(separator: 0x0a, omittingEmptySubsequences: false)
        var hosts = 0
        for (index, line) in lines.enumerated() {
            let line = index == lines.count - 1 ? line : line.dropLast()
            precondition(!line.isEmpty && !line.contains(0x0d))
            guard index > 0 else { continue }
            let field = line.split(separator: UInt8(ascii: ":"), maxSplits: 1)
            let name = String(decoding: field[0], as: UTF8.self).lowercased()
            precondition(!name.isEmpty && name.allSatisfy { $0.isLetter || $0 == "-" })
            precondition(!self.refused.contains(name) && !name.hasPrefix("x-"))
            if name == "host" { hosts += 1 }
        }
        precondition(hosts == 1)
    }

    private static func head(of bytes: ArraySlice<UInt8>) -> ListRequestHead? {
        bytes.withUnsafeBytes { ListRequestHead(reading: $0) }
    }
}
