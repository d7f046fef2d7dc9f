// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The bound pointers of an older Mach-O image: a program of one-byte instructions (`<mach-o/loader.h>`, `BIND_OPCODE`).
struct MachOBindProgram {
    private let image: MachOImage
    private let isLazy: Bool
    private let namesLibraries: Bool
    private var reader: LEB128Reader
    private var symbol = ""
    private var source = ImportSlot.Source.any
    private var isWeak = false
    private var isPointer = true
    private var addend: Int64 = 0
    private var address: UInt64?
    private var count = 0

    /// The program in a part of the image's file.
    ///
    /// - Parameters:
    ///   - isLazy: Whether the program is for calls that are bound on first use, where each pointer has its own end.
    ///   - namesLibraries: Whether the libraries that it names count.
    init(_ image: MachOImage, _ part: MachOHeader.Part, isLazy: Bool, namesLibraries: Bool) {
        self.image = image
        self.isLazy = isLazy
        self.namesLibraries = namesLibraries
        self.reader = LEB128Reader(image.bytes, part)
    }

    /// Runs the program, until `body` returns `false`.
    ///
    /// - Returns: Whether it came to the end.
    mutating func run(_ body: (ImportSlot) -> Bool) throws(ImageError) -> Bool {
        while let instruction = self.reader.byte() {
            let small = instruction & 0x0F
            switch instruction & 0xF0 {
            case 0x00: if !self.isLazy { return true }
            case 0x10: self.nameLibrary(UInt64(small))
            case 0x20: self.nameLibrary(try self.unsigned())
            case 0x30: self.source = .any  // The image itself, the program, or any.
            case 0x40: try self.nameSymbol(flags: small)
            case 0x50: self.isPointer = small == 1
            case 0x60: self.addend = try Self.some(self.reader.signed())
            case 0x70: try self.go(to: Int(small))
            case 0x80: self.skip(try self.unsigned())
            case 0x90: if try !self.bind(skipping: 0, body) { return false }
            case 0xA0: if try !self.bind(skipping: self.unsigned(), body) { return false }
            case 0xB0: if try !self.bind(skipping: UInt64(small) * 8, body) { return false }
            case 0xC0:
                let times = try self.unsigned()
                let distance = try self.unsigned()
                guard times <= UInt64(ImageLimits.relocations) else { throw Self.tooMany }
                for _ in 0..<times {
                    if try !self.bind(skipping: distance, body) { return false }
                }
            default: throw ImageError(.unsupported, "an unknown instruction of bound pointers")
            }
        }
        return true
    }

    private static let tooMany = ImageError(.tooLarge, "more than \(ImageLimits.relocations) bound pointers")

    private static func some<Value>(_ value: Value?) throws(ImageError) -> Value {
        guard let value else { throw ImageError(.truncated, "the program of bound pointers is cut") }
        return value
    }

    private mutating func unsigned() throws(ImageError) -> UInt64 { try Self.some(self.reader.unsigned()) }

    private mutating func nameLibrary(_ ordinal: UInt64) {
        self.source = self.namesLibraries ? self.image.header.source(ordinal: ordinal) : .any
    }

    private mutating func nameSymbol(flags: UInt8) throws(ImageError) {
        self.symbol = try Self.some(self.reader.text())
        self.isWeak = flags & 1 != 0
    }

    private mutating func go(to segment: Int) throws(ImageError) {
        let offset = try self.unsigned()
        guard self.image.header.segments.indices.contains(segment) else {
            throw ImageError(.malformed, "a bound pointer in no segment")
        }
        self.address = self.image.header.segments[segment].segment.address &+ offset
    }

    private mutating func skip(_ distance: UInt64) { self.address = self.address.map { $0 &+ distance } }

    private mutating func bind(skipping distance: UInt64, _ body: (ImportSlot) -> Bool) throws(ImageError) -> Bool {
        guard let address = self.address else { throw ImageError(.malformed, "a bound pointer without a place") }
        self.count += 1
        guard self.count <= ImageLimits.relocations else { throw Self.tooMany }
        self.skip(distance &+ 8)
        guard self.isPointer else { return true }
        var unbound: UInt64?
        if self.isLazy, let offset = self.image.offset(of: address) {
            unbound = self.image.bytes.bytes(at: offset, count: 8)?.littleEndian(UInt64.self, at: 0)
        }
        return body(
            ImportSlot(
                address: address, kind: self.isLazy ? .call : .pointer, symbol: self.symbol,
                source: self.source, addend: self.addend, isWeak: self.isWeak, ownAddress: nil, unboundAddress: unbound,
                isSigned: false,
                isVariable: !self.isLazy && self.image.header.isVariable(address)))
    }
}

/// The exported names of a Mach-O image: a trie whose edges are parts of names (`<mach-o/loader.h>`, export trie).
struct MachOExports: Sendable {
    private let file: ExecutableBytes
    private let part: MachOHeader.Part

    /// The names in a part of a file.
    init(_ file: ExecutableBytes, _ part: MachOHeader.Part) {
        self.file = file
        self.part = part
    }

    /// The offset of a name from the image's base, and its kind; `nil` where it is not exported, or is re-exported from
    /// another image.
    func find(_ name: String) -> (offset: UInt64, kind: ImageSymbol.Kind)? {
        var reader = LEB128Reader(self.file, self.part)
        var rest = Array(name.utf8)[...]
        var budget = ImageLimits.trieBytes
        for _ in 0...ImageLimits.trieSteps {
            guard let size = reader.unsigned() else { return nil }
            if rest.isEmpty { return size == 0 ? nil : Self.terminal(&reader) }
            let (children, overflow) = reader.index.addingReportingOverflow(size)
            guard !overflow else { return nil }
            reader.index = children
            guard let next = Self.child(&reader, &rest, &budget) else { return nil }
            reader.index = next
        }
        return nil
    }

    /// The offset of the child whose edge continues the name; removes the edge from the name.
    private static func child(
        _ reader: inout LEB128Reader, _ rest: inout ArraySlice<UInt8>, _ budget: inout Int
    ) -> UInt64? {
        guard let count = reader.byte() else { return nil }
        for _ in 0..<count {
            guard let edge = reader.text(), let next = reader.unsigned() else { return nil }
            budget -= edge.utf8.count + 2
            guard budget > 0 else { return nil }
            // An edge without a letter would go round for ever.
            if !edge.isEmpty, rest.starts(with: edge.utf8) {
                rest = rest.dropFirst(edge.utf8.count)
                return next
            }
        }
        return nil
    }

    /// Flags and an address: bit 3 is another library's name, bit 4 a resolver, whose own offset follows the stub's.
    private static func terminal(_ reader: inout LEB128Reader) -> (offset: UInt64, kind: ImageSymbol.Kind)? {
        guard let flags = reader.unsigned(), flags & 8 == 0, let offset = reader.unsigned() else { return nil }
        return (offset, flags & 0x10 != 0 ? .resolver : .other)
    }
}
