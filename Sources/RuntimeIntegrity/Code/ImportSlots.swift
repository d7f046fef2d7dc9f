// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Checks the targets of the import slots of a loaded image.
///
/// These targets are right: the symbol of the name in the target image, which is the library that the slot's image
/// names, or one that it re-exports (Mach-O names them; in ELF the first image that has a name counts); any code of an
/// image that has a resolver of the name; the image's own code that binds a call on first use, as in the file; images
/// without a file.
///
/// Variables are not evaluated: a program may write any value there.
///
/// Not detected: tables of functions that are no imports (those of C++ and of Swift's protocols), and a slot
/// whose right name is hooked where it stands.
struct ImportSlots: Sendable {
    /// The maximum number of findings of one call, without preloaded names.
    static let maximumFindings = 64
    /// The maximum number of preloaded names of one call, so that many weak findings do not hide a strong one.
    static let maximumInterposed = 16
    /// The maximum number of slots of one call. Foundation has 7,000.
    static let maximumSlots = 1 << 17
    /// The bits of an address below the signature of arm64e: 47, as Apple's systems have them.
    private static let unsignedBits: UInt64 = 0x7FFF_FFFF_FFFF

    private let images: LoadedImages
    private let memory: ExecutableBytes

    /// Creates a check of slots in memory, which is read by address.
    init(in images: LoadedImages, memory: ExecutableBytes) {
        self.images = images
        self.memory = memory
    }

    /// Evaluates the slots of the image with an index, up to ``maximumSlots``.
    ///
    /// - Parameters:
    ///   - index: In ``LoadedImages/all``. An image without a file has no findings.
    ///   - note: Receives the value of each evaluated slot, and the slot's address in memory.
    /// - Returns: At most ``maximumFindings`` and ``maximumInterposed``, and the number of visited slots, with variables.
    /// - Throws: An error when a table of the image's file is malformed.
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
        // A missing name was not bound. A call through it ends the process.
        if target == 0 { return nil }
        if slot.kind == .call, let unbound = slot.unboundAddress, unbound != 0, target == unbound &+ own.bias,
            own.isCode(target)
        {
            return nil
        }
        if let ownAddress = slot.ownAddress, target == ownAddress &+ own.bias { return nil }
        guard let place = self.images.index(at: target) else {
            // Of a library that was replaced only the code is known, and not where its variables are.
            if self.images.hasReplaced, slot.kind == .pointer, self.isDefinedNowhere(slot) { return nil }
            return ImportFinding(kind: .outside, slot: slot, target: target, path: nil)
        }
        let found = self.images.all[place]
        guard let kind = self.evaluate(slot, target, in: place, from: index) else { return nil }
        return ImportFinding(kind: kind, slot: slot, target: target, path: found.path)
    }

    /// Whether no image whose file is there has the name of a slot.
    private func isDefinedNowhere(_ slot: ImportSlot) -> Bool {
        guard let symbol = slot.symbol else { return false }
        return self.images.all.allSatisfy { $0.image?.definitions(of: symbol).isEmpty ?? true }
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

/// An import slot: a place in an image's data that the loader fills with an address for calls and pointers.
struct ImportSlot: Hashable, Sendable {
    /// The kind of the value.
    enum Kind: Hashable, Sendable {
        /// The address of a function that is called through the slot, perhaps only found at the first call.
        case call
        /// The address of a name, plus an addend.
        case pointer
        /// The choice of a resolver of this very image (`IRELATIVE`).
        case resolved
    }

    /// The source of a name (Mach-O's two-level namespace).
    enum Source: Hashable, Sendable {
        /// Any image that has the name.
        case any
        /// The library at this index of ``ExecutableImage/libraries``.
        case library(Int)
    }

    /// The slot's address, without the image's bias.
    let address: UInt64
    /// The kind of the value.
    let kind: Kind
    /// The name; `nil` with ``Kind/resolved``.
    let symbol: String?
    /// The required source of the name; ``Source/any`` where the image names none, as in ELF.
    var source = Source.any
    /// The addend to the name's address.
    let addend: Int64
    /// Whether the name may be missing; then the slot holds 0.
    let isWeak: Bool
    /// The image's own address of the name, without the bias; `nil` where it has none.
    let ownAddress: UInt64?
    /// The value in the file: for a call that is not bound yet the address of the code that binds it; `nil` for none.
    let unboundAddress: UInt64?
    /// Whether the pointer carries a signature in its upper bits (arm64e).
    let isSigned: Bool
    /// Whether it is a variable of the program, which the loader only gives its first value.
    let isVariable: Bool
}

/// The evaluated slots of one image and a digest of their values, to detect later changes.
///
/// The place of each slot is stored, and one sum over all values and places, under the process's
/// own key for hashes.
struct CheckedSlots: Sendable {
    /// The maximum number of slots, 4 bytes each.
    static let maximum = 1 << 16

    private let base: UInt64
    private var offsets: [UInt32] = []
    private var sum: UInt64 = 0

    /// Whether all noted slots were stored: no more than ``maximum``, and none 4 GiB behind the base.
    private(set) var isWhole = true

    /// Creates an empty record.
    ///
    /// - Parameter base: An address at or below all slots.
    init(from base: UInt64) { self.base = base }

    /// Stores the value of a slot.
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

    /// Whether the values are unchanged; `false` when they cannot be read.
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

/// A slot with another address than the loader would have written.
struct ImportFinding: Hashable, Sendable {
    /// The kind of the finding.
    enum Kind: Hashable, Sendable {
        /// It points outside of all images.
        case outside
        /// It points into an image that does not have the name.
        case otherImage
        /// It points to the name in an image that the program needs, but the slot names another library (Mach-O).
        case otherLibrary
        /// It points into an image that has the name, but to another place.
        case displaced
        /// It points to the name in an image that no other needs: a preload. A weaker sign, and often intended.
        case interposed
        /// It cannot be read.
        case unreadable
    }

    /// The kind of the finding.
    let kind: Kind
    /// The slot; its address is without the image's bias.
    let slot: ImportSlot
    /// The value of the slot; `nil` where it cannot be read.
    let target: UInt64?
    /// The path of the image that it points into.
    let path: String?
}
