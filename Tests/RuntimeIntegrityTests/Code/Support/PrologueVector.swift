// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RuntimeIntegrity

/// Code, assembled by clang and linked at ``place``, and the target that `llvm-objdump -d` prints of it.
struct PrologueVector: Sendable, CustomTestStringConvertible {
    /// Where the code stands.
    static let place: UInt64 = 0x1000_0000

    let testDescription: String
    let code: String
    let jump: PrologueJump?

    init(_ name: String, _ code: String, _ jump: PrologueJump?) {
        self.testDescription = name
        self.code = code
        self.jump = jump
    }

    /// The bytes; those of arm64 are written as words.
    func bytes(_ architecture: CodeArchitecture) -> [UInt8] {
        self.code.split(separator: " ").flatMap { word -> [UInt8] in
            let number = UInt32(word, radix: 16) ?? 0
            guard architecture == .arm64 else { return [UInt8(truncatingIfNeeded: number)] }
            return (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
    }
}
