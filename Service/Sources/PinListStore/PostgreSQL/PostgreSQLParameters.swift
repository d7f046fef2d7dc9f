// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CPQ

/// Values on their way to the server: binary, in one buffer that stays where it is during the call.
struct PostgreSQLParameters {
    /// PostgreSQL's numbers of the types of columns (`pg_type.dat`).
    enum TypeNumber {
        static let bool: Oid = 16
        static let bytea: Oid = 17
        static let name: Oid = 19
        static let int8: Oid = 20
        static let int2: Oid = 21
        static let int4: Oid = 23
        static let text: Oid = 25
        static let float4: Oid = 700
        static let float8: Oid = 701
        static let unknown: Oid = 705
        static let bpchar: Oid = 1_042
        static let varchar: Oid = 1_043
        static let numeric: Oid = 1_700
        static let byteaArray: Oid = 1_001
        static let textArray: Oid = 1_009
        static let int8Array: Oid = 1_016
        static let float8Array: Oid = 1_022
    }

    /// The types; 0 for a null, whose type the server finds from where it stands.
    private(set) var types: [Oid] = []
    /// One letter for each type: statements are prepared for the types of their values.
    private(set) var signature = ""
    private var buffer: [UInt8] = []
    /// The number of bytes that they take on the way.
    var byteCount: Int { self.buffer.count }
    private var ranges: [Range<Int>?] = []

    /// Writes values as the server reads them: numbers with the highest byte first, texts in UTF-8.
    init(_ values: [SQLValue]) {
        for value in values {
            let start = self.buffer.count
            self.write(value)
            let type = Self.type(of: value)
            self.add(type?.letter ?? "n", type?.number ?? 0)
            self.ranges.append(value == .null ? nil : start..<self.buffer.count)
        }
        // So that an empty value, too, has an address: without one it would be a null.
        self.buffer.append(0)
    }

    /// A text as PostgreSQL can hold it: U+0000 is replaced by U+FFFD, because no text there contains it.
    static func stored(_ text: String) -> String {
        guard text.utf8.contains(0) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value == 0 ? "\u{FFFD}" : $0 }))
    }

    /// Adds one array of values: PostgreSQL's `array_recv`, one dimension that begins with 1.
    ///
    /// - Parameter first: The value whose type is that of the array.
    /// - Returns: `false`, with nothing added that may be sent, where another value has another type.
    mutating func addArray(of values: [SQLValue], like first: SQLValue) -> Bool {
        guard let type = Self.type(of: first) else { return false }
        let start = self.buffer.count
        for number in [
            1, values.contains(.null) ? 1 : 0, Int32(bitPattern: type.number), Int32(clamping: values.count), 1,
        ] {
            self.write(number)
        }
        for value in values {
            guard value != .null else {
                self.write(Int32(-1))
                continue
            }
            guard Self.type(of: value)?.number == type.number else { return false }
            let place = self.buffer.count
            self.write(Int32(0))
            self.write(value)
            let length = Int32(clamping: self.buffer.count - place - 4)
            withUnsafeBytes(of: length.bigEndian) { self.buffer.replaceSubrange(place..<place + 4, with: $0) }
        }
        self.add(Character(type.letter.uppercased()), type.array)
        self.ranges.append(start..<self.buffer.count)
        return true
    }

    /// The type of a value with its letter and the type of its arrays; `nil` for a null.
    private static func type(of value: SQLValue) -> (letter: Character, number: Oid, array: Oid)? {
        switch value {
        case .null: nil
        case .integer: ("i", TypeNumber.int8, TypeNumber.int8Array)
        case .real: ("r", TypeNumber.float8, TypeNumber.float8Array)
        case .text: ("t", TypeNumber.text, TypeNumber.textArray)
        case .blob: ("b", TypeNumber.bytea, TypeNumber.byteaArray)
        }
    }

    private mutating func write(_ value: SQLValue) {
        switch value {
        case .null: break
        case .integer(let number): self.write(number)
        case .real(let number): self.write(number.bitPattern)
        case .text(let text): self.buffer += Self.stored(text).utf8
        case .blob(let bytes): self.buffer += bytes
        }
    }

    /// The highest byte first.
    private mutating func write(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { self.buffer += $0 }
    }

    private mutating func add(_ letter: Character, _ type: Oid) {
        self.types.append(type)
        self.signature.append(letter)
    }

    /// Calls with what libpq wants: addresses, lengths, and the format 1, binary, for each value.
    func withPointers<Result>(
        _ body: (_ values: [UnsafePointer<CChar>?], _ lengths: [Int32], _ formats: [Int32]) throws -> Result
    ) rethrows -> Result {
        try self.buffer.withUnsafeBytes { buffer in
            let base = buffer.bindMemory(to: CChar.self).baseAddress
            return try body(
                self.ranges.map { range in range.flatMap { range in base.map { $0 + range.lowerBound } } },
                self.ranges.map { Int32(clamping: $0?.count ?? 0) }, self.ranges.map { _ in 1 })
        }
    }
}

/// A statement as PostgreSQL numbers its values.
struct PostgreSQLStatement {
    /// With `$1`, `$2` and so on.
    let sql: String

    /// Numbers the values of a statement.
    ///
    /// - Parameter sql: With `?` for each value, in their order, and nowhere else: not within a literal either.
    init(_ sql: String) {
        var count = 0
        var numbered = ""
        numbered.reserveCapacity(sql.utf8.count + 16)
        for character in sql {
            if character == "?" {
                count += 1
                numbered += "$\(count)"
            } else {
                numbered.append(character)
            }
        }
        self.sql = numbered
    }
}
