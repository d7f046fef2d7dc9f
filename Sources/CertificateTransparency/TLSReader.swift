// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Steps over the vectors of TLS's presentation language (RFC 5246, section 4) in some bytes. Whatever reaches beyond the
/// end is `nil`, and nothing is stepped over then.
struct TLSReader {
    private var rest: ArraySlice<UInt8>

    /// A reader over some bytes.
    init(_ bytes: ArraySlice<UInt8>) { self.rest = bytes }

    /// Whether everything was stepped over.
    var isAtEnd: Bool { self.rest.isEmpty }

    /// So many bytes.
    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= self.rest.count else { return nil }
        let bytes = self.rest.prefix(count)
        self.rest = self.rest.dropFirst(count)
        return bytes
    }

    /// A big-endian number of so many bytes, at most eight.
    mutating func number(_ count: Int) -> UInt64? {
        self.bytes(count)?.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// A vector whose length stands before it in two bytes.
    mutating func vector() -> ArraySlice<UInt8>? {
        let start = self.rest
        guard let length = self.number(2), let bytes = self.bytes(Int(length)) else {
            self.rest = start
            return nil
        }
        return bytes
    }
}
