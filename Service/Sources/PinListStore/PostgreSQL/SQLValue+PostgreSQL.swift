// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CPQ

extension SQLValue {
    private typealias Number = PostgreSQLParameters.TypeNumber

    /// Reads a value that the server sent in its binary format.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, which are copied.
    ///   - type: The number of the column's type.
    /// - Returns: `nil` for a type that no table here has, and for bytes that are not one of their type.
    init?(postgreSQL bytes: UnsafeRawBufferPointer, type: Oid) {
        switch type {
        case Number.bool, Number.int2, Number.int4, Number.int8:
            let width = [Number.bool: 1, Number.int2: 2, Number.int4: 4][type] ?? 8
            guard bytes.count == width, let first = bytes.first else { return nil }
            // The first byte has the sign, but for a bool, which is 0 or 1.
            self = .integer(bytes.dropFirst().reduce(Int64(Int8(bitPattern: first))) { $0 << 8 | Int64($1) })
        case Number.float4:
            guard bytes.count == 4 else { return nil }
            self = .real(Double(Float(bitPattern: bytes.reduce(0) { $0 << 8 | UInt32($1) })))
        case Number.float8:
            guard bytes.count == 8 else { return nil }
            self = .real(Double(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) }))
        case Number.text, Number.varchar, Number.bpchar, Number.name, Number.unknown:
            self = .text(String(decoding: bytes, as: UTF8.self))
        case Number.bytea: self = .blob([UInt8](bytes))
        case Number.numeric:
            guard let value = Self.numeric(bytes) else { return nil }
            self = value
        default: return nil
        }
    }

    /// A `numeric`, as SUM() and AVG() of numbers give it: an integer when it has no places after the point and fits,
    /// else a real number.
    ///
    /// Four 16-bit numbers (count of digits, weight of the first, sign, places), then digits to the base 10,000.
    private static func numeric(_ bytes: UnsafeRawBufferPointer) -> SQLValue? {
        guard bytes.count >= 8, bytes.count.isMultiple(of: 2) else { return nil }
        let words = stride(from: 0, to: bytes.count, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
        let digits = words.dropFirst(4)
        let weight = Int(Int16(bitPattern: words[1]))
        let sign = words[2]
        // Other signs are those of infinity and of what is not a number.
        guard digits.count == Int(words[0]), digits.allSatisfy({ $0 < 10_000 }), sign == 0 || sign == 0x4000 else {
            return nil
        }
        let text = digits.reduce(into: sign == 0 ? "0" : "-0") { $0 += String(String(10_000 + Int($1)).dropFirst()) }
        let zeros = (weight + 1 - digits.count) * 4
        if words[3] == 0, (0...20).contains(zeros), let number = Int64(text + String(repeating: "0", count: zeros)) {
            return .integer(number)
        }
        if digits.isEmpty { return words[3] == 0 ? .integer(0) : .real(0) }
        return Double("\(text)e\(zeros)").map { .real($0) }
    }
}
