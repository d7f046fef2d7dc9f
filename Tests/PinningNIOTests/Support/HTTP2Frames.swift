// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import NIOCore

/// Frames of HTTP/2 (RFC 9113, section 4.1) as bytes, for servers that no library would let us be.
enum HTTP2Frames {
    /// A frame.
    static func frame(type: UInt8, flags: UInt8 = 0, stream: Int = 0, _ payload: [UInt8] = []) -> [UInt8] {
        [UInt8(payload.count >> 16 & 0xFF), UInt8(payload.count >> 8 & 0xFF), UInt8(payload.count & 0xFF), type, flags]
            + Self.word(stream) + payload
    }

    private static func word(_ number: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(number >> $0 & 0xFF) } }

    /// SETTINGS, with the most concurrent streams where that is said.
    static func settings(streams: Int? = nil) -> [UInt8] {
        self.frame(type: 4, streams.map { [0, 3] + Self.word($0) } ?? [])
    }

    /// The acknowledgement of SETTINGS.
    static let acknowledgement = Self.frame(type: 4, flags: 1)

    /// GOAWAY.
    static func goAway(last: Int, code: Int = 0) -> [UInt8] { self.frame(type: 7, self.word(last) + self.word(code)) }

    /// RST_STREAM.
    static func reset(_ stream: Int, code: Int) -> [UInt8] { self.frame(type: 3, stream: stream, self.word(code)) }

    /// HEADERS with `:status 200`, with or without the end of the stream.
    static func ok(_ stream: Int, isEnd: Bool = true) -> [UInt8] {
        self.frame(type: 1, flags: isEnd ? 5 : 4, stream: stream, [0x88])
    }

    /// HEADERS with any `:status` (RFC 7541, section 6.2.2), with or without the end of the stream.
    static func status(_ status: String, _ stream: Int, isEnd: Bool = true) -> [UInt8] {
        self.frame(
            type: 1, flags: isEnd ? 5 : 4, stream: stream, [0x08, UInt8(status.utf8.count)] + Array(status.utf8))
    }

    /// The types and streams of the whole frames in what a client sent, its preface left out.
    static func frames(in bytes: [UInt8]) -> [(type: UInt8, flags: UInt8, stream: Int)] {
        var frames: [(type: UInt8, flags: UInt8, stream: Int)] = []
        var rest = bytes[...]
        if rest.starts(with: Array("PRI ".utf8)) { rest = rest.dropFirst(24) }
        while rest.count >= 9 {
            let head = Array(rest.prefix(9))
            let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            guard rest.count >= 9 + length else { break }
            frames.append((head[3], head[4], head[5..<9].reduce(0) { $0 << 8 | Int($1) } & 0x7FFF_FFFF))
            rest = rest.dropFirst(9 + length)
        }
        return frames
    }
}
#endif
