// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@testable import RuntimeParsers

/// Memory that holds the code of a file, as a loader maps it; and one byte that was changed.
struct MappedCode {
    private let pieces: [ImageSegment]
    private let file: ExecutableBytes
    private let bias: UInt64
    private let changed: UInt64?

    init(_ pieces: [ImageSegment], _ file: ExecutableBytes, bias: UInt64, changed: UInt64? = nil) {
        self.pieces = pieces
        self.file = file
        self.bias = bias
        self.changed = changed
    }

    /// The memory, by address: past the file's end it is zero.
    var bytes: ExecutableBytes {
        ExecutableBytes { address, count in
            guard let offset = self.pieces.lazy.compactMap({ $0.offset(of: address &- self.bias) }).first else {
                return nil
            }
            var bytes = self.file.prefix(at: offset, maximum: count) ?? []
            bytes += [UInt8](repeating: 0, count: count - bytes.count)
            if let changed = self.changed, changed >= address, changed - address < UInt64(count) {
                bytes[Int(changed - address)] ^= 0x55
            }
            return bytes
        }
    }
}
