// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The instruction sets whose code is understood.
enum CodeArchitecture: String, Hashable, Sendable {
    /// Intel and AMD, 64 bits: instructions of 1 to 15 bytes.
    case x86
    /// ARM, 64 bits, with and without pointer authentication: instructions of 4 bytes, little endian.
    case arm64

    /// The architecture that this module is compiled for; `nil` for others.
    static var own: CodeArchitecture? {
        #if arch(x86_64)
        .x86
        #elseif arch(arm64)
        .arm64
        #else
        nil
        #endif
    }
}
