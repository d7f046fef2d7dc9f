// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import RuntimeIntegrity

extension ExecutableBytes {
    /// The bytes of a file, mapped.
    init(file: URL) throws {
        let data = try Data(contentsOf: file, options: .alwaysMapped)
        self.init { offset, count in
            guard offset < UInt64(data.count) else { return nil }
            let start = data.startIndex + Int(offset)
            return Array(data[start..<start + min(count, data.endIndex - start)])
        }
    }

    /// This process's memory, by address, as the system reads it: a page that is not mapped is no crash.
    static func ownMemory() throws -> ExecutableBytes {
        let memory = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/mem"))
        return ExecutableBytes { address, count in
            guard let place = off_t(exactly: address) else { return nil }
            var bytes = [UInt8](repeating: 0, count: count)
            let read = bytes.withUnsafeMutableBytes { pread(memory.fileDescriptor, $0.baseAddress, count, place) }
            return read > 0 ? Array(bytes.prefix(read)) : nil
        }
    }
}
