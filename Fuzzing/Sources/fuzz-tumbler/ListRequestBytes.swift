// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@testable import ServiceParsers

/// The heads of requests that the service answers from their bytes: what is taken for one must be read in no other way by
/// anything that stands in front.
enum ListRequestBytes: FuzzTarget {
    static let name = "list-request"

    static func check(_ bytes: [UInt8]) {
        guard let head = self.head(of: bytes[...]) else { return }
        PlainHead.check(bytes, length: head.length, start: "GET \(head.path)")
        // It needs all of its bytes, and none behind them.
        precondition(self.head(of: bytes.prefix(head.length)) == head)
        precondition(self.head(of: bytes.prefix(head.length - 1)) == nil)
        precondition(head.path.hasPrefix("/v1/lists/"))
        precondition(PlainHead.values(of: "content-length", bytes, head.length).isEmpty)
        precondition(PlainHead.values(of: "forwarded", bytes, head.length).isEmpty)
        precondition(PlainHead.values(of: "via", bytes, head.length).isEmpty)
        precondition(PlainHead.values(of: "x-forwarded-for", bytes, head.length).isEmpty)
    }

    private static func head(of bytes: ArraySlice<UInt8>) -> ListRequestHead? {
        bytes.withUnsafeBytes { ListRequestHead(reading: $0) }
    }
}

/// The heads of reports that the service takes from their bytes.
enum ReportRequestBytes: FuzzTarget {
    static let name = "report-request"

    static var seeds: [[UInt8]] {
        [
            "POST /v1/reports HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}",
            "POST /v1/reports HTTP/1.1\r\nHost: a:1\r\nContent-Type: application/json\r\nContent-Length: 32768\r\n"
                + "X-Forwarded-For: 192.0.2.1, 192.0.2.2\r\nForwarded: for=\"[2001:db8::1]:1\";by=a\r\nVia: 1.1 a\r\n"
                + "X-Forwarded-Proto: https\r\nX-Real-IP: 192.0.2.1\r\nConnection: keep-alive\r\n\r\n{}",
        ].map { Array($0.utf8) }
    }

    static func check(_ bytes: [UInt8]) {
        guard let head = self.head(of: bytes[...]) else { return }
        PlainHead.check(bytes, length: head.length, start: "POST /v1/reports")
        precondition(self.head(of: bytes.prefix(head.length)) == head)
        precondition(self.head(of: bytes.prefix(head.length - 1)) == nil)
        let lengths = PlainHead.values(of: "content-length", bytes, head.length)
        precondition(lengths.count == 1 && lengths.allSatisfy { Int($0) == head.bodyLength && !$0.hasPrefix("+") })
        precondition((1...ReportRequestHead.maximumBody).contains(head.bodyLength))
        for (name, value) in [("x-forwarded-for", head.forwardedFor), ("forwarded", head.forwarded)] {
            precondition(PlainHead.values(of: name, bytes, head.length) == [value].compactMap(\.self))
        }
    }

    private static func head(of bytes: ArraySlice<UInt8>) -> ReportRequestHead? {
        bytes.withUnsafeBytes { ReportRequestHead(reading: $0) }
    }
}

/// A head, read again in the plainest way: lines that end with CR LF, and neither of the two elsewhere.
private enum PlainHead {
    /// Fields that change how a request is framed, or what is answered (RFC 9112, section 6).
    private static let refused: Set<String> = [
        "transfer-encoding", "te", "trailer", "upgrade", "expect", "cookie", "authorization", "content-encoding",
        "tumbler-assertion",
    ]

    static func check(_ bytes: [UInt8], length: Int, start: String) {
        precondition(length <= min(bytes.count, RequestHeadBytes.maximumBytes))
        let text = String(decoding: bytes.prefix(length), as: UTF8.self)
        precondition(text.hasPrefix("\(start) HTTP/1.1\r\n") && text.hasSuffix("\r\n\r\n"))
        var hosts = 0
        for (name, _) in self.fields(bytes, length) {
            precondition(!name.isEmpty && name.allSatisfy { $0.isLetter || $0 == "-" })
            precondition(!self.refused.contains(name))
            if name == "host" { hosts += 1 }
        }
        precondition(hosts == 1)
    }

    static func values(of name: String, _ bytes: [UInt8], _ length: Int) -> [String] {
        self.fields(bytes, length).filter { $0.name == name }.map(\.value)
    }

    private static func fields(_ bytes: [UInt8], _ length: Int) -> [(name: String, value: String)] {
        let lines = bytes.prefix(length - 4).split(separator: 0x0a, omittingEmptySubsequences: false)
        return lines.enumerated().dropFirst().map { index, line in
            let line = index == lines.count - 1 ? line : line.dropLast()
            precondition(!line.isEmpty && !line.contains(0x0d))
            let field = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
            precondition(field.count == 2)
            var value = field[1].drop { $0 == 0x20 }
            while value.last == 0x20 { value = value.dropLast() }
            return (
                String(decoding: field[0], as: UTF8.self).lowercased(), String(decoding: value, as: UTF8.self)
            )
        }
    }
}
