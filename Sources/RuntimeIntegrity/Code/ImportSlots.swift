// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Judges where the slots of a loaded image point.
///
/// Right are: the name where the image that is pointed into has it, and is the library that the slot's image names, or one
/// that this library stands for (Mach-O names them; in ELF the first image that has a name counts); anywhere in the code of an image that has a resolver
/// of the name; the image's own code that binds a call on first use, as the file has it; images without a file.
///
/// Not judged are variables: a program may put there what it wants.
///
/// What it does not see: tables of functions that are no imports (those of C++ and of Swift's protocols), and a slot
/// whose right name is hooked where it stands.
struct ImportSlots: Sendable {
    /// Findings that one call gives, but for preloaded names.
    static let mostFindings = 64
    /// Preloaded names that one call gives: many weak findings do not keep a strong one from being seen.
    static let mostInterposed = 16
    /// Slots that one call goes through. Foundation has 7,000.
    static let mostSlots = 1 << 17
    /// The bits of an address below the signature of arm64e: 47, as Apple's systems have them.
    private static let unsignedBits: UInt64 = 0x7FFF_FFFF_FFFF

    private let images: LoadedImages
    private let memory: ExecutableBytes

    /// A check of slots in memory, which is read by address.
    init(in images: LoadedImages, memory: ExecutableBytes) {
        self.images = images
        self.memory = memory
    }

    /// Judges the slots of the image with an index, up to ``mostSlots``.
    ///
    /// - Parameters:
    ///   - index: In ``LoadedImages/all``. An image without a file has no findings.
    ///   - note: Is given what stands in each slot that is judged, and the slot's address in memory.
    /// - Returns: At most ``mostFindings`` and ``mostInterposed``, and how many slots were gone through, with variables.
    /// - Throws: When a table of the image's file is not what the format says.
    func findings(
        ofImage index: Int, noting note: (_ value: UInt64, _ address: UInt64) -> Void = { _, _ in }
    ) throws(ImageRefusal) -> (findings: [ImportFinding], count: Int) {
        guard self.images.all.indices.contains(index), let image = self.images.all[index].image else { return ([], 0) }
        var values = ByteWindow(self.memory)
        var findings: [ImportFinding] = []
        var count = 0
        var interposed = 0
        let bias = self.images.all[index].bias
        var owns = ByteWindow(self.memory)
        try image.forEachImportSlot { address, own in
            guard count < Self.mostSlots, owns.littleEndian(UInt64.self, at: address &+ bias) == own &+ bias
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
                    if finding.kind != .interposed || interposed <= Self.mostInterposed { findings.append(finding) }
                }
            }
            let strong = findings.count - min(interposed, Self.mostInterposed)
            return strong < Self.mostFindings && count < Self.mostSlots
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
        guard let kind = self.judge(slot, target, in: place, from: index) else { return nil }
        return ImportFinding(kind: kind, slot: slot, target: target, path: found.path)
    }

    private func judge(_ slot: ImportSlot, _ target: UInt64, in place: Int, from own: Int) -> ImportFinding.Kind? {
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
