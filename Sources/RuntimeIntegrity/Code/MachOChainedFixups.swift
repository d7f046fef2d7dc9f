// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The chained fixups of a Mach-O image: each bound pointer has the distance to the next one
/// (`<mach-o/fixup-chains.h>`).
struct MachOChainedFixups {
    private let image: MachOImage
    private let part: MachOHeader.Part
    private var window: ByteWindow
    private var contents: ByteWindow
    private var names: ByteWindow
    private var count = 0

    /// A pointer format.
    private struct Format {
        /// The length of one step to the next pointer in bytes.
        let stride: UInt64
        /// The position of the bit for a bound pointer, and of the distance to the next pointer.
        let bindBit: UInt64
        /// The number of bits of the distance.
        let nextBits: UInt64
        /// The number of bits of the name's index.
        let ordinalBits: UInt64
        /// The bits of the addend, from bit 24 or 32 on; with a sign only where pointers may be signed.
        let hasSignature: Bool

        /// The formats of programs: 1, 9, 12 of arm64e (`DYLD_CHAINED_PTR_ARM64E`, `…_USERLAND`, `…_USERLAND24`), 2 and 6
        /// of all others (`DYLD_CHAINED_PTR_64`, `…_64_OFFSET`).
        init?(_ number: UInt16) {
            switch number {
            case 1, 9, 12:
                self.init(stride: 8, bindBit: 62, nextBits: 11, ordinalBits: number == 12 ? 24 : 16, hasSignature: true)
            case 2, 6: self.init(stride: 4, bindBit: 63, nextBits: 12, ordinalBits: 24, hasSignature: false)
            default: return nil
            }
        }

        private init(stride: UInt64, bindBit: UInt64, nextBits: UInt64, ordinalBits: UInt64, hasSignature: Bool) {
            self.stride = stride
            self.bindBit = bindBit
            self.nextBits = nextBits
            self.ordinalBits = ordinalBits
            self.hasSignature = hasSignature
        }

        func isBound(_ word: UInt64) -> Bool { word >> self.bindBit & 1 == 1 }
        func isSigned(_ word: UInt64) -> Bool { self.hasSignature && word >> 63 == 1 }
        func ordinal(_ word: UInt64) -> UInt64 { word & (1 << self.ordinalBits - 1) }
        func distance(_ word: UInt64) -> UInt64 { (word >> 51 & (1 << self.nextBits - 1)) * self.stride }
        func addend(_ word: UInt64) -> Int64 {
            guard self.hasSignature else { return Int64(word >> 24 & 0xFF) }
            guard !self.isSigned(word) else { return 0 }
            let field = Int64(word >> 32 & 0x7_FFFF)
            return field >> 18 == 0 ? field : field - 0x8_0000
        }
    }

    /// The table of names.
    private struct Imports {
        let offset: UInt64
        let strings: UInt64
        let count: UInt32
        let format: UInt32

        var entrySize: UInt64 { self.format == 1 ? 4 : self.format == 2 ? 8 : 16 }
    }

    /// Creates the chained fixups that a part of the image's file describes.
    init(_ image: MachOImage, _ part: MachOHeader.Part) {
        self.image = image
        self.part = part
        self.window = ByteWindow(image.bytes)
        self.contents = ByteWindow(image.bytes)
        self.names = ByteWindow(image.bytes)
    }

    /// Iterates over them, until `body` returns `false`.
    mutating func forEach(_ body: (ImportSlot) -> Bool) throws(ImageError) {
        let version: UInt32 = try self.number(at: 0)
        let compression: UInt32 = try self.number(at: 24)
        let starts: UInt32 = try self.number(at: 4)
        let imports = Imports(
            offset: UInt64(try self.number(UInt32.self, at: 8)), strings: UInt64(try self.number(UInt32.self, at: 12)),
            count: try self.number(at: 16), format: try self.number(at: 20))
        guard version == 0, compression == 0, (1...3).contains(imports.format) else {
            throw ImageError(.unsupported, "chained fixups of another version")
        }
        guard imports.count <= UInt32(ImageLimits.imports) else {
            throw ImageError(.tooLarge, "more than \(ImageLimits.imports) imported names")
        }
        let segments: UInt32 = try self.number(at: UInt64(starts))
        guard segments <= UInt32(ImageLimits.segments) else {
            throw ImageError(.tooLarge, "chained fixups of more than \(ImageLimits.segments) segments")
        }
        for index in 0..<UInt64(segments) {
            let offset: UInt32 = try self.number(at: UInt64(starts) + 4 + index * 4)
            if offset == 0 { continue }
            guard try self.segment(UInt64(starts) + UInt64(offset), imports, body) else { return }
        }
    }

    /// Iterates over a segment's pages.
    private mutating func segment(
        _ start: UInt64, _ imports: Imports, _ body: (ImportSlot) -> Bool
    ) throws(ImageError) -> Bool {
        let pageSize: UInt16 = try self.number(at: start + 4)
        let offset: UInt64 = try self.number(at: start + 8)
        let pages: UInt16 = try self.number(at: start + 20)
        guard let format = Format(try self.number(at: start + 6)), pageSize >= 8 else {
            throw ImageError(.unsupported, "chained pointers of another format")
        }
        for page in 0..<UInt64(pages) {
            let first: UInt16 = try self.number(at: start + 22 + page * 2)
            // 0xFFFF: no pointer in this page; the bit is for formats of 32 bits.
            if first == 0xFFFF { continue }
            guard first & 0x8000 == 0 else { throw ImageError(.unsupported, "a page with several chains") }
            let address = self.image.base &+ offset &+ page * UInt64(pageSize)
            var distance = UInt64(first)
            while distance < UInt64(pageSize) {
                guard let place = self.image.offset(of: address &+ distance),
                    let word = self.contents.littleEndian(UInt64.self, at: place)
                else { throw ImageError(.truncated, "a chained pointer does not lie in the file") }
                self.count += 1
                guard self.count <= ImageLimits.relocations else {
                    throw ImageError(.tooLarge, "more than \(ImageLimits.relocations) chained pointers")
                }
                if format.isBound(word) {
                    let slot = try self.slot(at: address &+ distance, word, format, imports)
                    guard body(slot) else { return false }
                }
                let step = format.distance(word)
                if step == 0 { break }
                distance += step
            }
        }
        return true
    }

    private mutating func slot(
        at address: UInt64, _ word: UInt64, _ format: Format, _ imports: Imports
    ) throws(ImageError) -> ImportSlot {
        let ordinal = format.ordinal(word)
        guard ordinal < imports.count else { throw ImageError(.malformed, "a chained pointer to no name") }
        let entry = imports.offset + ordinal * imports.entrySize
        let name: UInt64
        let library: UInt64
        let isWeak: Bool
        var addend = format.addend(word)
        if imports.format == 3 {
            let fields: UInt64 = try self.number(at: entry)
            name = fields >> 32
            library = fields & 0xFFFF
            isWeak = fields >> 16 & 1 == 1
            addend = addend &+ (try self.number(Int64.self, at: entry + 8))
        } else {
            let fields: UInt32 = try self.number(at: entry)
            name = UInt64(fields >> 9)
            library = UInt64(fields & 0xFF)
            isWeak = fields >> 8 & 1 == 1
            if imports.format == 2 { addend = addend &+ Int64(try self.number(Int32.self, at: entry + 4)) }
        }
        let place = imports.strings + name
        guard place < self.part.count,
            let symbol = self.names.text(
                at: self.part.offset + place, maximum: Int(min(self.part.count - place, UInt64(ImageLimits.nameLength)))
            )
        else { throw ImageError(.truncated, "a name of chained fixups cannot be read") }
        return ImportSlot(
            address: address, kind: .pointer, symbol: symbol, source: self.image.header.source(ordinal: library),
            addend: addend, isWeak: isWeak, ownAddress: nil, unboundAddress: nil, isSigned: format.isSigned(word),
            isVariable: self.image.header.isVariable(address))
    }

    /// Reads a number of the part.
    private mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(
        _ type: Number.Type = Number.self, at index: UInt64
    ) throws(ImageError) -> Number {
        guard let end = index.adding(UInt64(MemoryLayout<Number>.size)), end <= self.part.count,
            let number = self.window.littleEndian(type, at: self.part.offset + index)
        else { throw ImageError(.truncated, "the chained fixups are cut") }
        return number
    }
}
