// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@testable import RuntimeParsers

/// A file, and how much of it was read.
///
/// `@unchecked Sendable`: because the fuzzer has one thread.
final class ReadMeter: @unchecked Sendable {
    /// The most reads of one file of 70 KB, and bytes that they give, by all that this target does with it.
    static let maximumReads = 400_000
    static let maximumBytes = 2 << 30

    let file: [UInt8]
    private(set) var reads = 0
    private(set) var bytesRead = 0

    init(_ file: [UInt8]) { self.file = file }

    /// The file's bytes, counting.
    var bytes: ExecutableBytes {
        let held = ExecutableBytes(self.file)
        return ExecutableBytes { offset, count in
            let read = held.prefix(at: offset, maximum: count)
            self.reads += 1
            self.bytesRead += read?.count ?? 0
            return read
        }
    }
}
