// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PinListServer
@testable import PinListStore

@Suite("The store that a configuration means")
struct StoreLocationTests {
    private func failure(_ database: String) -> StoreError? {
        var configuration = ServiceConfiguration()
        configuration.database = database
        do {
            _ = try StoreLocation.open(configuration)
            return nil
        } catch { return error as? StoreError }
    }

    @Test("a database of another kind is refused without repeating an address that may hold a password")
    func databaseOfAnotherKindIsRefusedWithoutRepeatingAnAddressThatMayHoldAPassword() {
        let error = self.failure("mysql://user:s3cret@db.example.com/x")
        #expect(error?.code == .invalidAddress)
        #expect(error?.detail == "the database is neither sqlite nor postgres://USER@HOST/DATABASE")
    }

    @Test("a folder, a file or tables that are not there are made for the service alone")
    func folderAFileOrTablesThatAreNotThereAreMadeForTheServiceAlone() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = ServiceConfiguration()
        configuration.dataDirectory = folder.path
        func code() -> StoreError.Code? {
            do {
                _ = try StoreLocation.open(configuration, for: .adding)
                return nil
            } catch { return (error as? StoreError)?.code }
        }
        #expect(code() == .absent)
        #expect(!FileManager.default.fileExists(atPath: folder.path))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        #expect(code() == .absent)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        let file = folder.appendingPathComponent(StoreLocation.fileName)
        try Data().write(to: file)
        #expect(code() == .absent)
        try FileManager.default.removeItem(at: folder)
        _ = try StoreLocation.open(configuration)
        #expect(code() == nil)
    }

    @Test("an address of PostgreSQL is evaluated before anything is connected to")
    func addressOfPostgreSQLIsEvaluatedBeforeAnythingIsConnectedTo() {
        let error = self.failure("postgres://user:s3cret@db.example.com/x")
        #expect(error?.code == (PostgreSQLLibrary.refusal == nil ? .invalidAddress : .unsupported))
        #expect(error?.detail.contains("PGPASSFILE") == true || PostgreSQLLibrary.refusal != nil)
        #expect(error?.detail.contains("s3cret") == false)
    }

    /// A folder with a database that ends with a version.
    private func withDatabase(of version: Int64, _ body: (ServiceConfiguration, URL) async throws -> Void) async throws
    {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = ServiceConfiguration()
        configuration.dataDirectory = folder.path
        try await StoreLocation.open(configuration).write { store in
            try store.connection.execute("DELETE FROM migration WHERE number > ?", [.integer(version)])
            try store.log("note", "x", by: "test", at: TurnedClock.start)
        }
        try await body(configuration, folder.appendingPathComponent(StoreLocation.fileName))
    }

    @Test(
        "a database of an older version is not brought up to date by what reads or adds: it says so, and changes nothing"
    )
    func databaseOfAnOlderVersionIsNotBroughtUpToDateByWhatReadsOrAddsItSaysSo() async throws {
        try await self.withDatabase(of: 2) { configuration, file in
            let before = try Data(contentsOf: file)
            for purpose in [StoreLocation.Purpose.reading, .adding] {
                let error = #expect(throws: StoreError.self) {
                    _ = try StoreLocation.open(configuration, for: purpose)
                }
                #expect(error?.code == .outdated)
                #expect(error?.detail.contains("from an older version") == true)
            }
            #expect(try Data(contentsOf: file) == before)
        }
    }

    @Test("a database that was opened for reading is read, copied beside a service that writes, and never written")
    func databaseThatWasOpenedForReadingIsReadCopiedBesideAServiceThatWrites() async throws {
        try await self.withDatabase(of: .max) { configuration, file in
            let before = try Data(contentsOf: file)
            let copy = file.deletingLastPathComponent().appendingPathComponent("copy.sqlite").path
            do {
                let store = try StoreLocation.open(configuration, for: .reading)
                #expect(try await store.read { try $0.newestAuditEntry()?.detail } == "x")
                for _ in 0..<2 {
                    let error = await #expect(throws: StoreError.self) {
                        try await store.write { try $0.log("note", "y", by: "test", at: TurnedClock.start) }
                    }
                    #expect(error == .openedForReading)
                }
                try await store.backUp(to: copy)
                #expect(try Data(contentsOf: file) == before)
                // The writes of a service meanwhile are seen.
                try await StoreLocation.open(configuration).write {
                    try $0.log("note", "later", by: "test", at: TurnedClock.start)
                }
                #expect(try await store.read { try $0.newestAuditEntry()?.detail } == "later")
            }
            #expect(try await SQLiteStore(path: copy, for: .reading).read { try $0.newestAuditEntry()?.detail } == "x")
        }
    }
}
