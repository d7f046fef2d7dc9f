// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PinListStore

@Suite("Values to PostgreSQL and back")
struct PostgreSQLWireTests {
    @Test("values are numbered in their order")
    func valuesAreNumberedInTheirOrder() {
        #expect(PostgreSQLStatement("SELECT 1").sql == "SELECT 1")
        let many = String(repeating: "?,", count: 11)
        #expect(PostgreSQLStatement(many).sql == "$1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,")
    }

    @Test("what libpq says in several lines is one line, without its tabs")
    func whatLibpqSaysInSeveralLinesIsOneLine() {
        #expect(
            StoreError.text("Connection refused\n\tIs the server running?\n")
                == "Connection refused; Is the server running?")
        #expect(StoreError.text("\n\t\n") == "no reason was given")
    }

    @Test(
        "a refusal is known by its SQLSTATE",
        arguments: [
            ("53100", StoreError.Code.full), ("55P03", .busy), ("40P01", .busy), ("42P01", .damaged),
            ("42703", .damaged), ("XX001", .damaged), ("22P03", .damaged), ("42501", .notPermitted),
            ("57014", .timedOut), ("57P01", .unavailable), ("25006", .unavailable), ("", .unavailable),
        ])
    func refusalIsKnownByItsSQLSTATE(state: String, code: StoreError.Code) {
        #expect(StoreError(sqlState: state, message: "no").code == code)
    }

    @Test(
        "bytes that are not of their type are damage, not a trap",
        arguments: [
            (PostgreSQLParameters.TypeNumber.int8, []), (PostgreSQLParameters.TypeNumber.int8, [1, 2]),
            (PostgreSQLParameters.TypeNumber.int4, [0, 0, 0, 0, 1]), (PostgreSQLParameters.TypeNumber.bool, []),
            (PostgreSQLParameters.TypeNumber.float8, [1]), (PostgreSQLParameters.TypeNumber.float4, [1]),
            (PostgreSQLParameters.TypeNumber.numeric, [0]),
            // Two digits are said, one is there; a digit above the base; not a number.
            (PostgreSQLParameters.TypeNumber.numeric, [0, 2, 0, 0, 0, 0, 0, 0, 0, 1]),
            (PostgreSQLParameters.TypeNumber.numeric, [0, 1, 0, 0, 0, 0, 0, 0, 0x27, 0x10]),
            (PostgreSQLParameters.TypeNumber.numeric, [0, 0, 0, 0, 0xC0, 0, 0, 0]), (600, [1]),
        ] as [(UInt32, [UInt8])])
    func bytesThatAreNotOfTheirTypeAreDamageNotATrap(type: UInt32, bytes: [UInt8]) {
        #expect(bytes.withUnsafeBytes { SQLValue(postgreSQL: $0, type: type) } == nil)
    }

    @Test(
        "a sum that no number holds is a real one",
        arguments: [
            ([0, 1, 0, 4, 0, 0, 0, 0, 0, 100], SQLValue.integer(1_000_000_000_000_000_000)),
            ([0, 1, 0, 4, 0, 0, 0, 0, 0x13, 0x88], .real(5e19)),
            ([0, 1, 0x7F, 0xFF, 0, 0, 0, 0, 0, 1], .real(.infinity)),
            ([0, 1, 0xFF, 0xFF, 0x40, 0, 0, 2, 0x09, 0xC4], .real(-0.25)), ([0, 0, 0, 0, 0, 0, 0, 0], .integer(0)),
        ] as [([UInt8], SQLValue)])
    func sumThatNoNumberHoldsIsARealOne(bytes: [UInt8], value: SQLValue) {
        #expect(
            bytes.withUnsafeBytes { SQLValue(postgreSQL: $0, type: PostgreSQLParameters.TypeNumber.numeric) } == value)
    }

    @Test("U+0000, which PostgreSQL cannot hold in a text, is replaced, and nothing else is")
    func u0000WhichPostgreSQLCannotHoldInATextIsReplacedAndNothingElseIs() {
        #expect(PostgreSQLParameters.stored("a\0b\0") == "a\u{FFFD}b\u{FFFD}")
        #expect(PostgreSQLParameters.stored("e\u{301}\u{1}") == "e\u{301}\u{1}")
    }
}
