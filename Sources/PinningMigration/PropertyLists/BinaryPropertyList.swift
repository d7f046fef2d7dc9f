// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A reader of binary property lists (`bplist00`).
///
/// A value may be referenced many times, so that forty objects can expand to 10^12 values: the limit counts the values
/// that are read, not the objects in the file. A long text counts as several: each reference to it is a copy.
struct BinaryPropertyList {
    /// The first bytes of every file.
    static let magic = Array("bplist00".utf8)

    /// The length of the trailer: sizes, counts and the place of the offsets.
    private static let trailerLength = 32

    /// The number of characters of a text that count as one value: hosts and pins have fewer.
    private static let charactersOfValue = 64

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let count: Int
    private let offsets: Int
    private var left = MigrationLimits.values

    /// Reads a file.
    ///
    /// - Throws: ``MigrationError``.
    static func read(_ bytes: [UInt8]) throws(MigrationError) -> ConfigurationValue {
        guard bytes.count >= self.magic.count + self.trailerLength else { throw self.damaged }
        let trailer = bytes.count - self.trailerLength
        let top = Self.number(bytes, trailer + 16, 8)
        var reader = try BinaryPropertyList(bytes, trailer)
        guard let top else { throw self.damaged }
        return try reader.object(top, depth: 0)
    }

    private init(_ bytes: [UInt8], _ trailer: Int) throws(MigrationError) {
        guard let count = Self.number(bytes, trailer + 8, 8), let offsets = Self.number(bytes, trailer + 24, 8),
            case let offsetSize = Int(bytes[trailer + 6]), case let referenceSize = Int(bytes[trailer + 7]),
            (1...8).contains(offsetSize), (1...8).contains(referenceSize), offsets < trailer,
            count > 0, count <= (trailer - offsets) / offsetSize
        else { throw Self.damaged }
        self.bytes = bytes
        self.offsetSize = offsetSize
        self.referenceSize = referenceSize
        self.count = count
        self.offsets = offsets
    }

    private static let damaged = PropertyList.malformed("the binary property list is damaged")

    /// A big-endian number, or `nil` when it is missing or larger than any offset in a file.
    private static func number(_ bytes: [UInt8], _ start: Int, _ size: Int) -> Int? {
        guard start >= 0, size > 0, start <= bytes.count - size else { return nil }
        var value: UInt64 = 0
        for byte in bytes[start..<(start + size)] {
            guard value >> 56 == 0 else { return nil }
            value = value << 8 | UInt64(byte)
        }
        return value <= UInt64(Int32.max) ? Int(value) : nil
    }

    private mutating func object(_ index: Int, depth: Int) throws(MigrationError) -> ConfigurationValue {
        self.left -= 1
        guard self.left > 0, depth < MigrationLimits.depth else { throw ConfigurationValue.tooLarge }
        guard index < self.count,
            let start = Self.number(self.bytes, self.offsets + index * self.offsetSize, self.offsetSize),
            start < self.offsets
        else { throw Self.damaged }
        let marker = self.bytes[start]
        switch marker >> 4 {
        case 0x0: return marker == 0x08 ? .flag(false) : marker == 0x09 ? .flag(true) : .other("nothing")
        case 0x1: return try self.integer(start + 1, size: 1 << Int(marker & 15))
        case 0x2: return .other("a number with a fraction")
        case 0x3: return try self.date(start + 1)
        case 0x4: return .other("data")
        case 0x5: return try self.text(start, unit: 1)
        case 0x6: return try self.text(start, unit: 2)
        case 0xA: return .list(try self.list(start, depth: depth))
        case 0xD: return try self.table(start, depth: depth)
        default: return .other("a value of another kind")
        }
    }

    /// The number of an object's values, and their offset.
    private func extent(_ start: Int, unit: Int) throws(MigrationError) -> (count: Int, first: Int) {
        var count = Int(self.bytes[start] & 15)
        var first = start + 1
        if count == 15 {
            guard first < self.offsets, self.bytes[first] >> 4 == 1, self.bytes[first] & 15 <= 3,
                let long = Self.number(self.bytes, first + 1, 1 << Int(self.bytes[first] & 15))
            else { throw Self.damaged }
            count = long
            first += 1 + 1 << Int(self.bytes[first] & 15)
        }
        guard first <= self.offsets, count <= (self.offsets - first) / unit else { throw Self.damaged }
        return (count, first)
    }

    private func integer(_ start: Int, size: Int) throws(MigrationError) -> ConfigurationValue {
        guard size <= 16, start <= self.offsets - size else { throw Self.damaged }
        // Of 16 bytes the first 8 show whether the number fits.
        guard size <= 8 else { return .other("a large number") }
        var value: UInt64 = 0
        for byte in self.bytes[start..<(start + size)] { value = value << 8 | UInt64(byte) }
        return .integer(Int64(bitPattern: value))
    }

    private func date(_ start: Int) throws(MigrationError) -> ConfigurationValue {
        guard start <= self.offsets - 8 else { throw Self.damaged }
        var bits: UInt64 = 0
        for byte in self.bytes[start..<(start + 8)] { bits = bits << 8 | UInt64(byte) }
        // Seconds since 2001-01-01.
        return .date(secondsSince1970: Double(bitPattern: bits) + 978_307_200)
    }

    private mutating func text(_ start: Int, unit: Int) throws(MigrationError) -> ConfigurationValue {
        let (count, first) = try self.extent(start, unit: unit)
        guard count <= MigrationLimits.textBytes else { return .other("an overlong text") }
        self.left -= count / Self.charactersOfValue
        guard self.left > 0 else { throw ConfigurationValue.tooLarge }
        let bytes = self.bytes[first..<(first + count * unit)]
        guard unit == 2 else { return .bounded(String(decoding: bytes, as: UTF8.self)) }
        let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map {
            UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
        }
        return .bounded(String(decoding: units, as: UTF16.self))
    }

    private func references(_ first: Int, _ count: Int) throws(MigrationError) -> [Int] {
        var references: [Int] = []
        for index in 0..<count {
            guard let reference = Self.number(self.bytes, first + index * self.referenceSize, self.referenceSize) else {
                throw Self.damaged
            }
            references.append(reference)
        }
        return references
    }

    private mutating func list(_ start: Int, depth: Int) throws(MigrationError) -> [ConfigurationValue] {
        let (count, first) = try self.extent(start, unit: self.referenceSize)
        guard count <= self.left else { throw ConfigurationValue.tooLarge }
        var values: [ConfigurationValue] = []
        for reference in try self.references(first, count) {
            values.append(try self.object(reference, depth: depth + 1))
        }
        return values
    }

    private mutating func table(_ start: Int, depth: Int) throws(MigrationError) -> ConfigurationValue {
        let (count, first) = try self.extent(start, unit: 2 * self.referenceSize)
        guard count <= self.left else { throw ConfigurationValue.tooLarge }
        let keys = try self.references(first, count)
        let values = try self.references(first + count * self.referenceSize, count)
        var members: [String: ConfigurationValue] = [:]
        for (key, value) in zip(keys, values) {
            guard case .text(let name) = try self.object(key, depth: depth + 1) else { throw Self.damaged }
            guard members.updateValue(try self.object(value, depth: depth + 1), forKey: name) == nil else {
                throw Self.damaged
            }
        }
        return .table(members)
    }
}
