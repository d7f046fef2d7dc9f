// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PinListStore

@Suite("libpq, opened when it is asked for")
struct PostgreSQLLibraryTests {
    @Test("a machine without libpq is told what is missing, why, and what to install")
    func aMachineWithoutLibpqIsToldWhatIsMissingWhyAndWhatToInstall() {
        let refusal = PostgreSQLLibrary.open(["libpq-of-no-system.so.5"])
        #expect(refusal?.code == .unsupported)
        for words in ["needs its client library libpq", "libpq-of-no-system.so.5", "install libpq5", "SQLite"] {
            #expect(refusal?.detail.contains(words) == true)
        }
    }

    #if os(Linux)
    @Test("a library that is another one is refused by the name of the function that it lacks")
    func aLibraryThatIsAnotherOneIsRefusedByTheNameOfTheFunctionThatItLacks() {
        let refusal = PostgreSQLLibrary.open(["libm.so.6"])
        #expect(refusal?.detail.contains("libm.so.6 has no function PQ") == true)
    }
    #endif

    @Test(
        "what could not be opened takes nothing away from what is open",
        .enabled(if: PostgreSQLLibrary.refusal == nil, "there is no libpq: scripts/need libpq5"))
    func whatCouldNotBeOpenedTakesNothingAwayFromWhatIsOpen() throws {
        #expect(PostgreSQLLibrary.open(["libpq-of-no-system.so.5"]) != nil)
        let address = try PostgreSQLAddress("postgres://tumbler@db.example.com/x")
        #expect(address.settings["user"] == "tumbler")
    }
}
