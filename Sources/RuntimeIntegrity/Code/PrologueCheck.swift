// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Follows the jumps at the beginning of functions to where they lead.
///
/// It needs no file of the function's own image, so that it works where there is none to compare with. It does not see a
/// hook that stands further inside, or that leaves by another way than ``Prologue`` knows: comparing with the file does.
/// Nor does it say where the image's own data may point: ``ImportSlots`` does for what the loader puts there, and the
/// rest is variables.
struct PrologueCheck: Sendable {
    /// Jumps that are followed. A detour by spare bytes of the image takes three.
    static let mostJumps = 4

    private let images: LoadedImages
    private let memory: ExecutableBytes
    private let architecture: CodeArchitecture

    /// A check of functions in memory, which is read by address.
    init(_ architecture: CodeArchitecture, images: LoadedImages, memory: ExecutableBytes) {
        self.architecture = architecture
        self.images = images
        self.memory = memory
    }

    /// What is wrong with the beginning of the function at an address of memory; `nil` for nothing.
    ///
    /// More than ``mostJumps`` inside of the image are nothing: a loop harms nobody.
    func finding(at function: UInt64) -> PrologueFinding? {
        guard let own = self.images.index(at: function),
            let first = self.memory.prefix(at: function, most: Prologue.size)
        else { return self.finding(.unreadable, function, [], target: nil, jumps: 0) }
        var bytes = first
        var place = function
        for jumps in 1...Self.mostJumps {
            guard let jump = Prologue(architecture: self.architecture, address: place, bytes: bytes).jump else {
                return nil
            }
            if jump.form == .breakpoint {
                // Some programs have functions that are meant to stop a debugger.
                if self.isInFile(bytes, at: place, of: own) { return nil }
                return self.finding(.breakpoint, function, first, target: nil, jumps: jumps)
            }
            guard let target = jump.target ?? jump.slot.flatMap({ self.pointer(at: $0) }) else {
                return self.finding(.unreadable, function, first, target: nil, jumps: jumps)
            }
            if let slot = jump.slot, self.isData(slot, of: own) { return nil }
            if let kind = self.judge(target, from: own) {
                return self.finding(kind, function, first, target: target, jumps: jumps)
            }
            guard jump.form != .call, self.images.index(at: target) == own,
                let next = self.memory.prefix(at: target, most: Prologue.size)
            else { return nil }
            bytes = next
            place = target
        }
        return nil
    }

    private func judge(_ target: UInt64, from own: Int) -> PrologueFinding.Kind? {
        guard let index = self.images.index(at: target) else { return .outside }
        guard self.images.all[index].isCode(target) else { return .data }
        // Images without a file of their own lie side by side in one cache, linked to each other.
        if index == own || self.images.all[own].image == nil { return nil }
        return .otherImage
    }

    private func isData(_ address: UInt64, of own: Int) -> Bool {
        self.images.index(at: address) == own && !self.images.all[own].isCode(address)
    }

    /// Whether these bytes stand in the image's file as well.
    private func isInFile(_ bytes: [UInt8], at address: UInt64, of own: Int) -> Bool {
        let loaded = self.images.all[own]
        guard let image = loaded.image, let offset = image.offset(of: address &- loaded.bias) else { return false }
        let count = min(bytes.count, CodeDifference.bytesShown)
        return image.bytes.bytes(at: offset, count: count).map { $0.elementsEqual(bytes.prefix(count)) } ?? false
    }

    private func pointer(at address: UInt64) -> UInt64? {
        self.memory.bytes(at: address, count: 8)?.littleEndian(UInt64.self, at: 0)
    }

    private func finding(
        _ kind: PrologueFinding.Kind, _ function: UInt64, _ bytes: [UInt8], target: UInt64?, jumps: Int
    ) -> PrologueFinding {
        PrologueFinding(
            kind: kind, function: function, target: target, jumps: jumps,
            bytes: Array(bytes.prefix(CodeDifference.bytesShown)))
    }
}
