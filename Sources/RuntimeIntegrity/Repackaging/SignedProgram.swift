// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A program's file: of each of its parts the system that it was built for, and the signature.
struct SignedProgram: Sendable {
    /// One part: all of a file that is not fat.
    struct Part: Sendable {
        /// The system.
        let platform: ProgramPlatform?
        /// The signature; `nil` where there is none.
        let signature: CodeSignature?
    }

    /// The parts; at least one.
    let parts: [Part]

    /// Reads a Mach-O file, thin or fat, of 64 or 32 bits.
    init(_ file: ExecutableBytes) throws(ImageRefusal) {
        var parts: [Part] = []
        for slice in try MachOSlice.all(of: file) { parts.append(try Self.part(slice)) }
        guard !parts.isEmpty else { throw ImageRefusal(.malformed, "a file for no architecture") }
        self.parts = parts
    }

    /// Whether a part of it was built for a simulator, which asks for no certificate.
    var isForSimulator: Bool { self.parts.contains { $0.platform?.isSimulator ?? false } }

    /// Whether it runs on a Mac as a Mac's app: those have their profile elsewhere, and may do without.
    var isForMac: Bool { self.parts.contains { $0.platform?.isMac ?? false } }

    private static func part(_ slice: ExecutableBytes) throws(ImageRefusal) -> Part {
        var platform: ProgramPlatform?
        var signature: CodeSignature?
        for (number, bytes) in try MachOLoadCommands(slice).all {
            switch number {
            case 0x1D:  // LC_CODE_SIGNATURE
                guard signature == nil, let offset = bytes.littleEndian(UInt32.self, at: 8),
                    let count = bytes.littleEndian(UInt32.self, at: 12)
                else { throw ImageRefusal(.malformed, "a signature's place is not said, or said twice") }
                let place = slice.part(from: UInt64(offset), count: UInt64(count))
                signature = try CodeSignature(place, room: UInt64(count))
            default:
                platform = platform ?? ProgramPlatform(command: number, bytes)
            }
        }
        return Part(platform: platform, signature: signature)
    }
}
