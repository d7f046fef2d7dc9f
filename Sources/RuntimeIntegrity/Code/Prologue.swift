// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The first bytes of a function, as they stand in memory.
struct Prologue: Sendable {
    /// The number of bytes that are looked at: the longest form is 5 arm64 instructions after 2 hints.
    static let size = 32

    /// The instruction set.
    let architecture: CodeArchitecture
    /// The address of the first byte in memory.
    let address: UInt64
    /// The first bytes: ``size``, or fewer at the end of a mapping.
    let bytes: [UInt8]

    /// The jump, call or breakpoint that the function begins with; `nil` for other code.
    ///
    /// Instructions without an effect, and landing marks of jumps, are skipped. A jump alone is no hook: functions end
    /// in jumps, and short ones begin with them.
    var jump: PrologueJump? {
        switch self.architecture {
        case .x86: X86Prologue(self.bytes, at: self.address).jump
        case .arm64: ARM64Prologue(self.bytes, at: self.address).jump
        }
    }
}

/// The way in which a function's first instructions leave it.
struct PrologueJump: Hashable, Sendable {
    /// The instructions.
    enum Form: Hashable, Sendable {
        /// A jump over a distance in the instruction.
        case near
        /// A call over a distance in the instruction.
        case call
        /// A jump through an address in memory.
        case slot
        /// A jump to an address that is assembled in a register, or on the stack.
        case absolute
        /// The instruction that stops for a debugger.
        case breakpoint
    }

    /// The instructions.
    let form: Form
    /// The target; `nil` for a slot and for a breakpoint.
    let target: UInt64?
    /// The address of the slot; `nil` but for ``Form/slot``.
    let slot: UInt64?

    /// Creates a jump.
    init(_ form: Form, target: UInt64? = nil, slot: UInt64? = nil) {
        self.form = form
        self.target = target
        self.slot = slot
    }
}

/// Follows the jumps at the beginning of functions to their targets.
///
/// It needs no file of the function's own image, so that it works without one. It does not detect a hook further
/// inside, or one that leaves by a way that ``Prologue`` does not know: the comparison with the file does. It does not
/// evaluate pointers in the image's own data: ``ImportSlots`` does for those of the loader, and the rest are variables.
struct PrologueCheck: Sendable {
    /// The maximum number of jumps that are followed. A detour over spare bytes of the image takes three.
    static let maximumJumps = 4

    private let images: LoadedImages
    private let memory: ExecutableBytes
    private let architecture: CodeArchitecture

    /// Creates a check of functions in memory, which is read by address.
    init(_ architecture: CodeArchitecture, images: LoadedImages, memory: ExecutableBytes) {
        self.architecture = architecture
        self.images = images
        self.memory = memory
    }

    /// The finding about the beginning of the function at an address; `nil` for none.
    ///
    /// More than ``maximumJumps`` inside of the image are no finding: a loop does no harm.
    func finding(at function: UInt64) -> PrologueFinding? {
        guard let own = self.images.index(at: function),
            let first = self.memory.prefix(at: function, maximum: Prologue.size)
        else { return self.finding(.unreadable, function, [], target: nil, jumps: 0) }
        var bytes = first
        var place = function
        for jumps in 1...Self.maximumJumps {
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
            if let kind = self.evaluate(target, from: own) {
                return self.finding(kind, function, first, target: target, jumps: jumps)
            }
            guard jump.form != .call, self.images.index(at: target) == own,
                let next = self.memory.prefix(at: target, maximum: Prologue.size)
            else { return nil }
            bytes = next
            place = target
        }
        return nil
    }

    private func evaluate(_ target: UInt64, from own: Int) -> PrologueFinding.Kind? {
        guard let index = self.images.index(at: target) else { return .outside }
        guard self.images.all[index].isCode(target) else { return .data }
        // Images without a file of their own lie side by side in one cache, linked to each other.
        if index == own || self.images.all[own].image == nil { return nil }
        return .otherImage
    }

    private func isData(_ address: UInt64, of own: Int) -> Bool {
        self.images.index(at: address) == own && !self.images.all[own].isCode(address)
    }

    /// Whether the image's file has these bytes as well.
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

/// A function that begins with a jump to a suspicious target.
struct PrologueFinding: Hashable, Sendable {
    /// The kind of the finding.
    enum Kind: Hashable, Sendable {
        /// It goes into memory without a file.
        case outside
        /// It goes straight into another image: only a hook does, for the distance is not known when code is linked.
        case otherImage
        /// It goes to data of an image.
        case data
        /// There is a breakpoint that the file does not have.
        case breakpoint
        /// It, or the address that it goes to, cannot be read.
        case unreadable
    }

    /// The kind of the finding.
    let kind: Kind
    /// The address of the function in memory.
    let function: UInt64
    /// The target of the last jump; `nil` where it is not known.
    let target: UInt64?
    /// The number of followed jumps: 1 for a function that goes there itself.
    let jumps: Int
    /// The function's first bytes: at most ``CodeDifference/bytesShown``.
    let bytes: [UInt8]
}
