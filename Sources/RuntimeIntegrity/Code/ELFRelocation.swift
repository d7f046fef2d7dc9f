// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// One thing that the loader writes (gABI, "Relocation"; the processor supplements for the types).
struct ELFRelocation: Hashable, Sendable {
    /// What is written, as far as it matters here.
    enum Kind: Hashable, Sendable {
        /// The address of a function, perhaps only at the first call (`JUMP_SLOT`).
        case call
        /// The address of a name, in the linker's own table (`GLOB_DAT`).
        case pointer
        /// The address of a name plus an addend, in the program's data (`R_X86_64_64`, `R_AARCH64_ABS64`).
        case data
        /// An address of this very image (`RELATIVE`).
        case relative
        /// What a resolver of this very image answers (`IRELATIVE`).
        case resolved
        /// Anything else.
        case other
    }

    /// Where it is written, without the bias.
    let address: UInt64
    /// The number of its type; that of `RELATIVE` for one of `DT_RELR`.
    let type: UInt32
    /// What is written.
    let kind: Kind
    /// The index of its symbol; 0 for none.
    let symbol: UInt32
    /// What is added; `nil` where it stands at the address.
    let addend: Int64?

    /// Reads a type's number.
    init(address: UInt64, type: UInt32, symbol: UInt32, addend: Int64?, architecture: CodeArchitecture) {
        self.address = address
        self.type = type
        self.symbol = symbol
        self.addend = addend
        self.kind =
            switch (architecture, type) {
            case (.x86, 7), (.arm64, 1_026): .call
            case (.x86, 6), (.arm64, 1_025): .pointer
            case (.x86, 1), (.arm64, 257): .data
            case (.x86, 8), (.x86, 38), (.arm64, 1_027): .relative
            case (.x86, 37), (.arm64, 1_032): .resolved
            default: .other
            }
    }

    /// The bytes that it covers; 8 where the type is not known.
    ///
    /// That of a copy (`COPY`) is the size of its symbol, and is never in code: it counts as 8.
    func width(_ architecture: CodeArchitecture) -> Int {
        switch (architecture, self.type) {
        case (.x86, 0), (.arm64, 0): 0
        // 32 bits, and relative to the instruction.
        case (.x86, 2), (.x86, 10), (.x86, 11), (.x86, 32), (.arm64, 258), (.arm64, 261): 4
        case (.x86, 12), (.x86, 13), (.arm64, 259), (.arm64, 262): 2
        case (.x86, 14), (.x86, 15): 1
        // A descriptor of thread-local storage is two pointers.
        case (.x86, 36), (.arm64, 1_031): 16
        default: 8
        }
    }
}
