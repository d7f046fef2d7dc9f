// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@testable import PinListServer
@testable import PinListStore

@Suite("A store gives back the values that it was given", .runsPostgreSQL)
struct StoredValueTests {
    private static let insert = "INSERT INTO trial (number, part, words, bytes) VALUES (?, ?, ?, ?)"

    private static func trial(_ tested: TestedStore, _ rows: [[SQLValue]]) async throws -> [[SQLValue]] {
        var found: [[SQLValue]] = []
        try await tested.withDatabase { open in
            let store = try open()
            try await store.write { store in
                _ = try store.connection.execute(tested.trialTable, [])
                for row in rows { try store.connection.execute(Self.insert, row) }
            }
            found = try await open().read { store in
                try store.connection.rows("SELECT number, part, words, bytes FROM trial ORDER BY number", [])
                    .map(\.values)
            }
        }
        return found
    }

    @Test("numbers of all sizes, texts of all planes, bytes of all values, and nothing", arguments: TestedStore.all)
    func numbersOfAllSizesTextsOfAllPlanesBytesOfAllValuesAndNothing(on tested: TestedStore) async throws {
        let rows: [[SQLValue]] = [
            [.integer(.min), .real(-0.1), .text("Grüße, 東京 👩🏽‍🚀 \u{202E}abc"), .blob((0...255).map { UInt8($0) })],
            [.integer(-1), .real(.greatestFiniteMagnitude), .text(""), .blob([])],
            [.integer(0), .null, .null, .null],
            [.integer(1), .real(.leastNonzeroMagnitude), .text("\u{1}\u{7F}\n\t\\\"'"), .blob([0])],
            [.integer(.max), .real(1e300), .text(String(repeating: "ä", count: 100_000)), .blob([0, 0])],
        ]
        #expect(try await Self.trial(tested, rows) == rows)
    }

    @Test("four mebibytes in one value", arguments: TestedStore.all)
    func fourMebibytesInOneValue(on tested: TestedStore) async throws {
        let bytes = (0..<(4 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        let row: [SQLValue] = [.integer(1), .null, .null, .blob(bytes)]
        // Compared first: what is expected would be described, byte for byte, otherwise.
        let isSame = try await Self.trial(tested, [row]) == [row]
        #expect(isSame)
    }

    @Test(
        "a text that looks like a statement stays a text", arguments: TestedStore.all,
        ["'); DROP TABLE trial; --", "$1", "?", "\\'; COMMIT; SELECT '", "%s%n", "x' OR '1'='1"])
    func textThatLooksLikeAStatementStaysAText(on tested: TestedStore, text: String) async throws {
        let row: [SQLValue] = [.integer(1), .null, .text(text), .null]
        #expect(try await Self.trial(tested, [row]) == [row])
        try await tested.withDatabase { open in
            let store = try open()
            try await store.write { try $0.addRoot([1], version: 1, name: text) }
            #expect(try await store.read { try $0.roots(of: text) } == [[1]])
            #expect(try await store.read { try $0.roots(of: "x") }.isEmpty)
        }
    }

    @Test(
        "sums, counts and averages are what they are, under any type of the database",
        arguments: TestedStore.all)
    func sumsCountsAndAveragesAreWhatTheyAreUnderAnyTypeOfTheDatabase(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let values = try await open().write { store in
                let connection = store.connection
                try connection.execute(tested.trialTable, [])
                let query =
                    "SELECT SUM(number), COUNT(*), AVG(number), MAX(number), COALESCE(SUM(number), 0) FROM trial"
                var results = try connection.rows(query, [])
                for number: Int64 in [120_000_000, -20_000, 4_000_000_000_000, 1] {
                    try connection.execute("INSERT INTO trial (number) VALUES (?)", [.integer(number)])
                }
                results += try connection.rows(query, [])
                try connection.execute("DELETE FROM trial WHERE number > ?", [.integer(0)])
                results += try connection.rows(query, [])
                return results.map(\.values)
            }
            #expect(
                values == [
                    [.null, .integer(0), .null, .null, .integer(0)],
                    [
                        .integer(4_000_119_980_001), .integer(4), .real(1_000_029_995_000.25),
                        .integer(4_000_000_000_000), .integer(4_000_119_980_001),
                    ],
                    [.integer(-20_000), .integer(1), .real(-20_000), .integer(-20_000), .integer(-20_000)],
                ])
        }
    }

    @Test("names are in the order of their bytes", arguments: TestedStore.all)
    func namesAreInTheOrderOfTheirBytes(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            for name in ["é", "a", "B", "a-b", "aa", "Z"] {
                try await store.write { try $0.addRoot([1], version: 1, name: name) }
            }
            #expect(try await store.read { try $0.names() } == ["B", "Z", "a", "a-b", "aa", "é"])
        }
    }

    @Test("the number of changed rows, and an entry that is there is added to", arguments: TestedStore.all)
    func numberOfChangedRowsAndAnEntryThatIsThereIsAddedTo(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            let changed = try await store.write { store in
                let connection = store.connection
                let upsert = """
                    INSERT INTO inquiry (name, hour, source, digest, count) VALUES (?, ?, ?, ?, ?)
                    ON CONFLICT (name, hour, source, digest, instance) DO UPDATE SET count = inquiry.count + excluded.count
                    """
                for hour: Int64 in [1, 2, 1, 1] {
                    let key: [SQLValue] = [.text("a"), .integer(hour), .text("direct"), .text("d")]
                    try connection.execute(upsert, key + [.integer(5)])
                }
                return [
                    try connection.execute("UPDATE inquiry SET digest = ?", [.text("e")]),
                    try connection.execute("DELETE FROM inquiry WHERE hour = ?", [.integer(2)]),
                    try connection.execute("DELETE FROM inquiry WHERE hour = ?", [.integer(2)]),
                ]
            }
            #expect(changed == [2, 1, 0])
            let rows = try await store.read { try $0.connection.rows("SELECT hour, count FROM inquiry", []) }
            #expect(rows.map(\.values) == [[.integer(1), .integer(15)]])
        }
    }
}
