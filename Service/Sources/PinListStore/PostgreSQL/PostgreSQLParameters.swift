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
    }

    /// The types; 0 for a null, whose type the server finds from where it stands.
    private(set) var types: [Oid] = []
    /// One letter for each type: statements are prepared for the types of their values.
    private(set) var signature = ""
    private var buffer: [UInt8] = []
    private var ranges: [Range<Int>?] = []

    /// Writes values as the server reads them: numbers with the highest byte first, texts in UTF-8.
    init(_ values: [SQLValue]) {
        for value in values {
            let start = self.buffer.count
            switch value {
            case .null: self.add("n", 0)
            case .integer(let number):
                withUnsafeBytes(of: number.bigEndian) { self.buffer += $0 }
                self.add("i", TypeNumber.int8)
            case .real(let number):
                withUnsafeBytes(of: number.bitPattern.bigEndian) { self.buffer += $0 }
                self.add("r", TypeNumber.float8)
            case .text(let text):
                self.buffer += Self.stored(text).utf8
                self.add("t", TypeNumber.text)
            case .blob(let bytes):
                self.buffer += bytes
                self.add("b", TypeNumber.bytea)
            }
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
