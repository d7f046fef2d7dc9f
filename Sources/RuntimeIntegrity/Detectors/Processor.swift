// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A kind of processor, by its breakpoint instruction.
public struct Processor: Hashable, Sendable, CustomStringConvertible {
    /// The name.
    public let description: String

    private init(_ description: String) { self.description = description }

    /// Intel's and AMD's.
    public static let x86 = Self("x86-64")
    /// ARM's.
    public static let arm = Self("arm64")
    /// Another, unknown kind.
    public static let other = Self("other")

    /// The kind that this module was compiled for.
    public static var current: Self {
        #if arch(x86_64)
        .x86
        #elseif arch(arm64)
        .arm
        #else
        .other
        #endif
    }

    /// Whether code begins with a breakpoint, or has one after the landing mark of indirect calls.
    ///
    /// x86-64: `int3` is `CC`, or `CD 03`; `endbr64` is `F3 0F 1E FA` (Intel SDM, volume 2). arm64: `BRK #imm16` is
    /// `D4200000` with the number in bits 5 to 20; `BTI` is `D503241F` with a kind in bits 6 and 7 (Arm ARM, C6.2).
    func hasBreakpoint(_ code: [UInt8]) -> Bool {
        switch self {
        case .x86:
            let rest = code.starts(with: [0xF3, 0x0F, 0x1E, 0xFA]) ? code.dropFirst(4) : code[...]
            return rest.first == 0xCC || rest.starts(with: [0xCD, 0x03])
        case .arm:
            guard let first = Self.word(code, at: 0) else { return false }
            let word = first & 0xFFFF_FF3F == 0xD503_241F ? Self.word(code, at: 4) : first
            return word.map { $0 & 0xFFE0_001F == 0xD420_0000 } ?? false
        default:
            return false
        }
    }

    private static func word(_ code: [UInt8], at offset: Int) -> UInt32? {
        guard code.count >= offset + 4 else { return nil }
        return (0..<4).reduce(0) { $0 | UInt32(code[offset + $1]) << (8 * UInt32($1)) }
    }
}
