// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Rows as `COPY … FROM STDIN (FORMAT binary)` takes them: PostgreSQL's documentation, COPY, "Binary Format".
///
/// Numbers are written with 64 bits, as the columns of all tables here have them.
struct PostgreSQLRows {
    private static let signature: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF] + Array("\r\n".utf8) + [0]

    /// The bytes to send.
    private(set) var bytes: [UInt8]

    /// Writes rows.
    init(_ rows: [[SQLValue]]) {
        // No flags, and no more header.
        self.bytes = Self.signature + [0, 0, 0, 0, 0, 0, 0, 0]
        for row in rows {
            self.add(Int16(clamping: row.count))
            for value in row { self.add(value) }
        }
        self.add(Int16(-1))
    }

    private mutating func add(_ value: SQLValue) {
        switch value {
        case .null: self.add(Int32(-1))
        case .integer(let number):
            self.add(Int32(8))
            self.add(number)
        case .real(let number):
            self.add(Int32(8))
            self.add(number.bitPattern)
        case .text(let text):
            let stored = PostgreSQLParameters.stored(text).utf8
            self.add(Int32(clamping: stored.count))
            self.bytes += stored
        case .blob(let bytes):
            self.add(Int32(clamping: bytes.count))
            self.bytes += bytes
        }
    }

    /// The highest byte first.
    private mutating func add(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { self.bytes += $0 }
    }
}
