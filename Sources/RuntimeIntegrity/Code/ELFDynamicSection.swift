// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// What an ELF file tells the loader (gABI, "Dynamic Section"): tags with a number or an address.
///
/// It is read from the file. In memory the loader has added the bias to some of the addresses.
struct ELFDynamicSection: Sendable {
    /// The tags that are understood.
    enum Tag: UInt64, Hashable, Sendable {
        /// `DT_NEEDED`: a library's name.
        case needed = 1
        /// `DT_PLTRELSZ`: bytes of the relocations of calls.
        case pltRelocationsSize = 2
        /// `DT_HASH`: the old hash table.
        case hash = 4
        /// `DT_STRTAB`: the strings.
        case strings = 5
        /// `DT_SYMTAB`: the symbols.
        case symbols = 6
        /// `DT_RELA`: relocations with addends.
        case addendRelocations = 7
        /// `DT_RELASZ`: their bytes.
        case addendRelocationsSize = 8
        /// `DT_STRSZ`: bytes of the strings.
        case stringsSize = 10
        /// `DT_SONAME`: the image's name.
        case ownName = 14
        /// `DT_REL`: relocations without addends.
        case relocations = 17
        /// `DT_RELSZ`: their bytes.
        case relocationsSize = 18
        /// `DT_PLTREL`: `DT_RELA` or `DT_REL`.
        case pltRelocationsKind = 20
        /// `DT_TEXTREL`: relocations touch code.
        case textRelocations = 22
        /// `DT_JMPREL`: relocations of calls.
        case pltRelocations = 23
        /// `DT_FLAGS`: flags.
        case flags = 30
        /// `DT_RELRSZ`: bytes of the packed relocations.
        case relativeRelocationsSize = 35
        /// `DT_RELR`: packed relocations.
        case relativeRelocations = 36
        /// `DT_RELACOUNT`: how many relocations with addends, from the first on, are `RELATIVE`.
        case relativeCount = 0x6FFF_FFF9
        /// `DT_GNU_HASH`: the hash table.
        case gnuHash = 0x6FFF_FEF5
    }

    /// The value of each tag that stands there; where it stands twice, the last, as the loader takes it.
    private let values: [Tag: UInt64]

    /// Where in the strings the needed libraries' names stand.
    let needed: [UInt64]

    /// Of a static program: nothing.
    static let none = ELFDynamicSection(values: [:], needed: [])

    private init(values: [Tag: UInt64], needed: [UInt64]) {
        self.values = values
        self.needed = needed
    }

    /// Reads pairs of a tag and a value, up to the tag 0.
    init(_ bytes: [UInt8]) throws(ImageRefusal) {
        var values: [Tag: UInt64] = [:]
        var needed: [UInt64] = []
        var index = 0
        while let number = bytes.littleEndian(UInt64.self, at: index), number != 0,
            let value = bytes.littleEndian(UInt64.self, at: index + 8)
        {
            index += 16
            guard let tag = Tag(rawValue: number) else { continue }
            if tag == .needed { needed.append(value) } else { values[tag] = value }
        }
        guard needed.count <= ImageLimits.libraries else {
            throw ImageRefusal(.tooLarge, "more than \(ImageLimits.libraries) libraries are needed")
        }
        self.init(values: values, needed: needed)
    }

    /// The value of a tag.
    subscript(tag: Tag) -> UInt64? { self.values[tag] }

    /// Whether the loader may have to write to code (`DT_TEXTREL`, `DF_TEXTREL`).
    var hasTextRelocations: Bool { self[.textRelocations] != nil || (self[.flags] ?? 0) & 4 != 0 }
}
