// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The head of a `POST /v1/reports` that leaves nothing in doubt, read from its bytes (``RequestHeadBytes``).
struct ReportRequestHead: Hashable, Sendable {
    /// `Content-Length`: 1 to ``maximumBody``.
    let bodyLength: Int
    /// `X-Forwarded-For` without the blanks around it; `nil` when it is not there.
    let forwardedFor: String?
    /// `Forwarded` without the blanks around it; `nil` when it is not there.
    let forwarded: String?
    /// The length in bytes, the empty line at its end included.
    let length: Int

    /// The maximum length of a body that is read here, in bytes: what one token pays for.
    static let maximumBody = 32_768

    private static let start = Array("POST /v1/reports".utf8)
    private static let contentLength = Array("content-length".utf8)
    private static let forwardedFor = Array("x-forwarded-for".utf8)
    private static let forwarded = Array("forwarded".utf8)

    /// Fields of senders and of proxies that change nothing about a report.
    private static let ignored = RequestHeadBytes.names([
        "content-type", "via", "x-forwarded-host", "x-forwarded-port", "x-forwarded-proto", "x-real-ip", "x-request-id",
    ])

    /// Reads the head at the begin of some bytes; `nil` for what is none of this kind, or has no end among them.
    init?(reading whole: UnsafeRawBufferPointer) {
        let bytes = RequestHeadBytes(whole)
        guard bytes.start(with: Self.start) else { return nil }
        var (count, address, node): (Int?, String?, String?) = (nil, nil, nil)
        let length = bytes.readFields(behind: Self.start.count) { name, value in
            switch name {
            case Self.contentLength:
                guard count == nil, let number = Self.number(value) else { return false }
                count = number
            case Self.forwardedFor:
                guard address == nil else { return false }
                address = String(decoding: value, as: UTF8.self)
            case Self.forwarded:
                guard node == nil else { return false }
                node = String(decoding: value, as: UTF8.self)
            default: return Self.ignored.contains(name)
            }
            return true
        }
        guard let length, let count, (1...Self.maximumBody).contains(count) else { return nil }
        self.bodyLength = count
        self.forwardedFor = address
        self.forwarded = node
        self.length = length
    }

    /// The number that decimal digits write, as many as ``maximumBody`` has at most.
    private static func number(_ digits: Slice<UnsafeRawBufferPointer>) -> Int? {
        guard (1...5).contains(digits.count) else { return nil }
        var number = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = number * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return number
    }
}
