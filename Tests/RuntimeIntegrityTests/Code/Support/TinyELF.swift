// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The smallest ELF file with code: a header, one segment of code after it.
enum TinyELF {
    /// Where the code begins, in the file and in memory.
    static let codeOffset = 4_096

    /// Everything before so many bytes of code.
    static func header(code: Int) -> [UInt8] {
        func bytes(_ number: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
        var file: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 9)
        file += bytes(3, 2) + bytes(62, 2) + bytes(1, 4) + bytes(0, 8) + bytes(64, 8) + bytes(0, 8)
        file += bytes(0, 4) + bytes(64, 2) + bytes(56, 2) + bytes(1, 2) + bytes(0, 6)
        file += bytes(1, 4) + bytes(5, 4) + bytes(self.codeOffset, 8) + bytes(self.codeOffset, 8)
        file += bytes(self.codeOffset, 8) + bytes(code, 8) + bytes(code, 8) + bytes(4_096, 8)
        return file + [UInt8](repeating: 0, count: self.codeOffset - file.count)
    }
}
