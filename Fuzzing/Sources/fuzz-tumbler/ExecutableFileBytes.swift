// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import RuntimeParsers

/// Files of programs and libraries, ELF and Mach-O, and all that is looked up in them.
///
/// Before the file stand three bytes: the processor of a Mach-O file, and which byte of its code is changed.
enum ExecutableFileBytes: FuzzTarget {
    static let name = "executable-file"

    /// The address at which the file is mapped.
    private static let start: UInt64 = 0x7F00_0000_0000

    static func check(_ bytes: [UInt8]) {
        guard bytes.count > 3 else { return }
        let meter = ReadMeter(Array(bytes.dropFirst(3)))
        let architecture: CodeArchitecture = bytes[0] & 1 == 0 ? .x86 : .arm64
        guard let image = self.image(meter, architecture) else { return }
        self.checkHeaders(image)
        self.checkNames(image)
        let loaded = LoadedImage(path: "/x", image: image, mappedAt: self.start)
        self.checkCode(image, loaded, changing: UInt64(bytes[1]) << 8 | UInt64(bytes[2]))
        self.checkCalls(loaded, meter, architecture)
        // Work does not grow with the numbers that a small file names.
        precondition(meter.reads <= ReadMeter.maximumReads, "\(meter.reads) reads")
        precondition(meter.bytesRead <= ReadMeter.maximumBytes, "\(meter.bytesRead) bytes read")
    }

    private static func image(_ meter: ReadMeter, _ architecture: CodeArchitecture) -> (any ExecutableImage)? {
        meter.file.first == 0x7F
            ? try? ELFImage(meter.bytes) : try? MachOImage(meter.bytes, architecture: architecture)
    }

    /// All that is held is within its limit.
    private static func checkHeaders(_ image: any ExecutableImage) {
        precondition((1...ImageLimits.segments).contains(image.segments.count) || image is MachOImage)
        precondition(image.libraries.count <= ImageLimits.libraries)
        precondition(image.relocatedCode.count <= ImageLimits.codeRelocations)
        precondition(image.identifier.count <= ImageLimits.noteBytes)
        // Text that is not UTF-8 is replaced by three bytes.
        for name in image.libraries + [image.ownName ?? ""] {
            precondition(name.utf8.count <= 3 * ImageLimits.nameLength)
        }
        for piece in image.comparableCode { precondition(piece.isExecutable && piece.fileSize > 0) }
        for (one, next) in zip(image.relocatedCode, image.relocatedCode.dropFirst()) {
            precondition(one.address < next.address && one.end < next.address)
        }
    }

    /// Checks that what is found under a name has it, and what is found at an address lies there.
    private static func checkNames(_ image: any ExecutableImage) {
        for name in ["open_door", "_open_door", ""] {
            let definitions = image.definitions(of: name)
            precondition(definitions.count <= ImageLimits.definitions)
            precondition(definitions.allSatisfy { $0.name == name })
        }
        let names: Set<String> = ["inner", "_inner", "close_door"]
        for (name, symbols) in image.functions(named: names) {
            precondition(names.contains(name) && symbols.count <= 2 * ImageLimits.definitions)
            precondition(symbols.allSatisfy { $0.name == name })
        }
        let addresses = Set(image.segments.prefix(4).flatMap { [$0.address, $0.address &+ $0.fileSize / 2] } + [.max])
        for (address, symbol) in image.symbols(at: addresses) {
            precondition(image is MachOImage ? symbol.address <= address : symbol.contains(address))
        }
    }

    /// Code as it stands in the file is no finding; one byte that is another is, unless the loader writes there.
    private static func checkCode(_ image: any ExecutableImage, _ loaded: LoadedImage, changing place: UInt64) {
        let clean = MappedCode(image.comparableCode, image.bytes, bias: loaded.bias)
        guard let comparison = try? CodeComparison(of: image, bias: loaded.bias, memory: clean.bytes) else { return }
        let chunks = 0..<min(comparison.chunkCount, 8)
        precondition(comparison.result(ofChunks: chunks).differences.isEmpty)
        guard let piece = image.comparableCode.first else { return }
        let address = piece.address + place % piece.fileSize
        let isRelocated = image.relocatedCode.contains { $0.address <= address && address < $0.end }
        let range = CodeRange(address: address, count: 1)
        let changed = MappedCode(
            image.comparableCode, image.bytes, bias: loaded.bias, changed: address &+ loaded.bias)
        guard let comparison = try? CodeComparison(of: image, bias: loaded.bias, memory: changed.bytes) else {
            preconditionFailure("what could be compared cannot be compared")
        }
        let result = comparison.result(of: [range])
        let found = result.differences.map { CodeRange(address: $0.address, count: $0.count) }
        precondition(found == (isRelocated || !result.unreadable.isEmpty ? [] : [range]))
        // A whole chunk has it as well.
        let chunk = Int((address - piece.address) / UInt64(CodeComparison.chunkSize))
        let whole = comparison.result(ofChunks: chunk..<chunk + 1)
        guard whole.unreadable.isEmpty, !isRelocated else { return }
        precondition(whole.differences.contains { $0.address == address })
    }

    /// Slots and beginnings of functions are evaluated within limits, for any content of the memory.
    private static func checkCalls(_ loaded: LoadedImage, _ meter: ReadMeter, _ architecture: CodeArchitecture) {
        let memory = ExecutableBytes { address, count in
            address >= Self.start ? meter.bytes.prefix(at: address - Self.start, maximum: count) : nil
        }
        let images = LoadedImages([loaded])
        if let found = try? ImportSlots(in: images, memory: memory).findings(ofImage: 0) {
            precondition(found.findings.count <= ImportSlots.maximumFindings + ImportSlots.maximumInterposed)
            precondition(found.count <= ImportSlots.maximumSlots)
        }
        let check = PrologueCheck(architecture, images: images, memory: memory)
        for range in loaded.ranges {
            guard let finding = check.finding(at: range.lowerBound) else { continue }
            precondition(finding.jumps <= PrologueCheck.maximumJumps)
        }
        _ = Prologue(architecture: architecture, address: .max - 8, bytes: Array(meter.file.prefix(Prologue.size))).jump
        for offset: UInt64 in [0, 4_096, .max] {
            _ = loaded.image.flatMap {
                LoadedImage(path: "/x", image: $0, codeMappedAt: offset &- 4_096, offset: offset)
            }
        }
    }
}
