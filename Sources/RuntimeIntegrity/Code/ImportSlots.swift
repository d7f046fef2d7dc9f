// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Evaluates where the slots of a loaded image point.
///
/// Right are: the name where the image that is pointed into has it, and is the library that the slot's image names, or one
/// that this library stands for (Mach-O names them; in ELF the first image that has a name counts); anywhere in the code of an image that has a resolver
/// of the name; the image's own code that binds a call on first use, as the file has it; images without a file.
///
/// Not evaluated are variables: a program may put there what it wants.
///
/// What it does not see: tables of functions that are no imports (those of C++ and of Swift's protocols), and a slot
/// whose right name is hooked where it stands.
struct ImportSlots: Sendable {
    /// Findings that one call gives, but for preloaded names.
    static let maximumFindings = 64
    /// Preloaded names that one call gives: many weak findings do not keep a strong one from being seen.
    static let maximumInterposed = 16
    /// Slots that one call goes through. Foundation has 7,000.
    static let maximumSlots = 1 << 17
    /// The bits of an address below the signature of arm64e: 47, as Apple's systems have them.
    private static let unsignedBits: UInt64 = 0x7FFF_FFFF_FFFF

    private let images: LoadedImages
    private let memory: ExecutableBytes

    /// A check of slots in memory, which is read by address.
    init(in images: LoadedImages, memory: ExecutableBytes) {
        self.images = images
        self.memory = memory
    }

    /// Evaluates the slots of the image with an index, up to ``maximumSlots``.
    ///
    /// - Parameters:
    ///   - index: In ``LoadedImages/all``. An image without a file has no findings.
    ///   - note: Is given what stands in each slot that is evaluated, and the slot's address in memory.
    /// - Returns: At most ``maximumFindings`` and ``maximumInterposed``, and how many slots were gone through, with variables.
    /// - Throws: When a table of the image's file is not what the format says.
    func findings(
        ofImage index: Int, noting note: (_ value: UInt64, _ address: UInt64) -> Void = { _, _ in }
    ) throws(ImageError) -> (findings: [ImportFinding], count: Int) {
        guard self.images.all.indices.contains(index), let image = self.images.all[index].image else { return ([], 0) }
        var values = ByteWindow(self.memory)
        var findings: [ImportFinding] = []
        var count = 0
        var interposed = 0
        let bias = self.images.all[index].bias
        var owns = ByteWindow(self.memory)
        try image.forEachImportSlot { address, own in
            guard count < Self.maximumSlots, owns.littleEndian(UInt64.self, at: address &+ bias) == own &+ bias
            else { return false }
            note(own &+ bias, address &+ bias)
            count += 1
            return true
        } _: { slot in
            count += 1
            if !slot.isVariable {
                let value = values.littleEndian(UInt64.self, at: slot.address &+ bias)
                if let value { note(value, slot.address &+ bias) }
                if let finding = self.finding(slot, value, ofImage: index) {
                    if finding.kind == .interposed { interposed += 1 }
                    if finding.kind != .interposed || interposed <= Self.maximumInterposed { findings.append(finding) }
                }
            }
            let strong = findings.count - min(interposed, Self.maximumInterposed)
            return strong < Self.maximumFindings && count < Self.maximumSlots
        }
        return (findings, count)
    }

    private func finding(_ slot: ImportSlot, _ value: UInt64?, ofImage index: Int) -> ImportFinding? {
        let own = self.images.all[index]
        guard var target = value else { return ImportFinding(kind: .unreadable, slot: slot, target: nil, path: nil) }
        if slot.isSigned { target &= Self.unsignedBits }
        target = target &- UInt64(bitPattern: slot.addend)
        // What is missing was not bound. A call through it ends the process.
        if target == 0 { return nil }
        if slot.kind == .call, let unbound = slot.unboundAddress, unbound != 0, target == unbound &+ own.bias,
            own.isCode(target)
        {
            return nil
        }
        if let ownAddress = slot.ownAddress, target == ownAddress &+ own.bias { return nil }
        guard let place = self.images.index(at: target) else {
            return ImportFinding(kind: .outside, slot: slot, target: target, path: nil)
        }
        let found = self.images.all[place]
        guard let kind = self.evaluate(slot, target, in: place, from: index) else { return nil }
        return ImportFinding(kind: kind, slot: slot, target: target, path: found.path)
    }

    private func evaluate(_ slot: ImportSlot, _ target: UInt64, in place: Int, from own: Int) -> ImportFinding.Kind? {
        let found = self.images.all[place]
        guard let image = found.image else { return nil }
        guard let symbol = slot.symbol else {
            // A resolver chooses among its own image's code.
            return place == own && found.isCode(target) ? nil : .otherImage
        }
        let definitions = image.definitions(of: symbol)
        guard !definitions.isEmpty else { return .otherImage }
        let address = target &- found.bias
        let isThere = definitions.contains {
            $0.address == address || ($0.kind == .resolver && image.isCode(address))
        }
        guard isThere else { return .displaced }
        guard self.images.isNeeded(place, by: own) || place == own else { return .interposed }
        guard case .library(let number) = slot.source, let libraries = self.images.all[own].image?.libraries,
            libraries.indices.contains(number)
        else { return nil }
        return self.images.standsFor(libraries[number], place) ? nil : .otherLibrary
    }
}

/// A place in an image's data that the loader fills with an address, and that code then jumps or points through.
struct ImportSlot: Hashable, Sendable {
    /// What is put there.
    enum Kind: Hashable, Sendable {
        /// The address of a function that is called through the slot, perhaps only found at the first call.
        case call
        /// The address of a name, plus an addend.
        case pointer
        /// What a resolver of this very image chose (`IRELATIVE`).
        case resolved
    }

    /// Where a name comes from (Mach-O's two levels of names).
    enum Source: Hashable, Sendable {
        /// From any image that has it.
        case any
        /// From the library at this place of ``ExecutableImage/libraries``.
        case library(Int)
    }

    /// Where the slot lies, without the image's bias.
    let address: UInt64
    /// What is put there.
    let kind: Kind
    /// The name; `nil` with ``Kind/resolved``.
    let symbol: String?
    /// Where the name has to come from, as the image says; ``Source/any`` where it does not, as in ELF.
    var source = Source.any
    /// What is added to the name's address.
    let addend: Int64
    /// Whether the name may be missing; then the slot holds 0.
    let isWeak: Bool
    /// Where the image itself has the name, without the bias; `nil` where it has not.
    let ownAddress: UInt64?
    /// What stands in the file: of a call that is not bound yet, the address of the code that binds it; `nil` where the
    /// file says nothing.
    let unboundAddress: UInt64?
    /// Whether the pointer carries a signature in its upper bits (arm64e).
    let isSigned: Bool
    /// Whether it is a variable of the program, which the loader only gives its first value.
    let isVariable: Bool
}

/// The slots of one image that were evaluated, and what stood in them: to see that nobody touched them since.
///
/// Of each slot its place is kept, and of all values one sum that depends on each and on its place, under the process's
/// own key for hashes.
struct CheckedSlots: Sendable {
    /// The most slots: 4 bytes each.
    static let maximum = 1 << 16

    private let base: UInt64
    private var offsets: [UInt32] = []
    private var sum: UInt64 = 0

    /// Whether all slots were kept that were noted: no more than ``most``, and none 4 GiB behind the base.
    private(set) var isWhole = true

    /// No slot yet.
    ///
    /// - Parameter base: An address at or below all slots.
    init(from base: UInt64) { self.base = base }

    /// Keeps what stands in a slot.
    mutating func note(_ value: UInt64, at address: UInt64) {
        guard self.offsets.count < Self.maximum, let offset = UInt32(exactly: address &- self.base) else {
            self.isWhole = false
            return
        }
        self.offsets.append(offset)
        self.sum &+= Self.mark(value, address)
    }

    /// Prepares for reading: linkers list slots by name, and memory is read in order.
    mutating func sort() { self.offsets.sort() }

    /// Whether the same stands there still; `false` when it cannot be read.
    func stand(in memory: ExecutableBytes) -> Bool {
        var window = ByteWindow(memory)
        var sum: UInt64 = 0
        for offset in self.offsets {
            let address = self.base &+ UInt64(offset)
            guard let value = window.littleEndian(UInt64.self, at: address) else { return false }
            sum &+= Self.mark(value, address)
        }
        return sum == self.sum
    }

    private static func mark(_ value: UInt64, _ address: UInt64) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(address)
        hasher.combine(value)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}

/// A slot that holds another address than the loader would have put there.
struct ImportFinding: Hashable, Sendable {
    /// What is wrong.
    enum Kind: Hashable, Sendable {
        /// It points to where no image lies.
        case outside
        /// It points into an image that does not have the name.
        case otherImage
        /// It points to the name in an image that the program needs, but another library is named as the one to have it
        /// from (Mach-O).
        case otherLibrary
        /// It points into an image that has the name, and not to it.
        case displaced
        /// It points to the name in an image that nobody needs: a preload. A weaker sign, and often meant.
        case interposed
        /// It cannot be read.
        case unreadable
    }

    /// What is wrong.
    let kind: Kind
    /// The slot; its address is without the image's bias.
    let slot: ImportSlot
    /// What the slot holds; `nil` where it cannot be read.
    let target: UInt64?
    /// The path of the image that it points into.
    let path: String?
}
