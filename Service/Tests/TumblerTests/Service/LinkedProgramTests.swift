// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The links of a program are looked up in the program: a manifest says what is meant.
@Suite("The programs on the machine that signs lists")
struct LinkedProgramTests {
    /// Names as the compiler writes them of symbols, and of the libraries that are loaded.
    private static let marks = [
        "11Hummingbird", "15HummingbirdCore", "4GRDB", "8Mustache", "13PinListServer", "12PinListStore", "libsqlite3",
        "sqlite3_open",
    ]

    /// The names that are in a program beside the tests.
    private static func marks(in name: String) async throws -> Set<String> {
        let folder = try #require(CommandRun.program, "there is no tumbler beside the tests")
            .deletingLastPathComponent()
        let line = #"LC_ALL=C grep -aoE "$1" "$0" | sort -u"#
        let run = try await withTemporaryFolder { temporary in
            try await FinishedProcess.run(
                URL(fileURLWithPath: "/bin/sh"),
                ["-c", line, folder.appendingPathComponent(name).path, self.marks.joined(separator: "|")], in: temporary
            )
        }
        return Set(String(decoding: run.output, as: UTF8.self).split(separator: "\n").map(String.init))
    }

    @Test("tumbler links no web framework, no database and nothing of the service; tumbler-service links all of them")
    func tumblerLinksNoWebFrameworkNoDatabaseAndNothingOfTheService() async throws {
        #expect(try await Self.marks(in: "tumbler").isEmpty)
        #expect(try await Self.marks(in: "tumbler-service") == Set(Self.marks))
    }
}
