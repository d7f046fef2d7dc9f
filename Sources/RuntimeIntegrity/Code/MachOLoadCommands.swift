// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The load commands of a Mach-O file, of 64 bits or of 32 (`<mach-o/loader.h>`): phones, Macs and watches.
struct MachOLoadCommands: Sendable {
    /// Whether it is a file of 64 bits.
    let isWide: Bool
    /// The processor (`CPU_TYPE_…`).
    let processor: UInt32
    /// The kind of file (`MH_EXECUTE` and its kin).
    let kind: UInt32
    /// What holds for the file as a whole (`MH_TWOLEVEL` and its kin).
    let flags: UInt32
    /// The commands in order: the number, and all bytes.
    let all: [(number: UInt32, bytes: [UInt8])]

    /// Reads them from the beginning of a slice.
    init(_ file: ExecutableBytes) throws(ImageRefusal) {
        guard let header = file.bytes(at: 0, count: 28), let magic = header.littleEndian(UInt32.self, at: 0),
            magic == 0xFEED_FACF || magic == 0xFEED_FACE
        else { throw ImageRefusal(.otherFormat, "the file does not begin as Mach-O") }
        guard let processor = header.littleEndian(UInt32.self, at: 4),
            let kind = header.littleEndian(UInt32.self, at: 12),
            let count = header.littleEndian(UInt32.self, at: 16), let size = header.littleEndian(UInt32.self, at: 20),
            let flags = header.littleEndian(UInt32.self, at: 24)
        else { throw ImageRefusal(.truncated, "the header is cut") }
        guard count <= UInt32(ImageLimits.loadCommands), size <= UInt32(ImageLimits.loadCommandBytes) else {
            throw ImageRefusal(.tooLarge, "the load commands are more than is read")
        }
        let isWide = magic == 0xFEED_FACF
        guard let commands = file.bytes(at: isWide ? 32 : 28, count: Int(size)) else {
            throw ImageRefusal(.truncated, "the load commands are cut")
        }
        var all: [(number: UInt32, bytes: [UInt8])] = []
        var index = 0
        for _ in 0..<count {
            guard let command = commands.littleEndian(UInt32.self, at: index),
                let size = commands.littleEndian(UInt32.self, at: index + 4), size >= 8,
                size <= commands.count - index
            else { throw ImageRefusal(.malformed, "a load command does not fit") }
            all.append((command, Array(commands[index..<index + Int(size)])))
            index += Int(size)
        }
        self.isWide = isWide
        self.processor = processor
        self.kind = kind
        self.flags = flags
        self.all = all
    }
}
