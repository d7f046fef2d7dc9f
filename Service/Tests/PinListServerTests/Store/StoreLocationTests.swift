// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PinListServer

@Suite("Which store a configuration means")
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
    func other() {
        let error = self.failure("mysql://user:s3cret@db.example.com/x")
        #expect(error?.code == .unsupported)
        #expect(error?.detail == "the database is neither sqlite nor postgres://USER@HOST/DATABASE")
    }

    @Test("a folder, a file or tables that are not there are made for the service alone")
    func absent() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tumbler-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = ServiceConfiguration()
        configuration.dataDirectory = folder.path
        func code() -> StoreError.Code? {
            do {
                _ = try StoreLocation.open(configuration, .isAnError)
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

    #if PostgreSQL
    @Test("an address of PostgreSQL is judged before anything is connected to")
    func password() {
        let error = self.failure("postgres://user:s3cret@db.example.com/x")
        #expect(error?.code == .unsupported)
        #expect(error?.detail.contains("PGPASSFILE") == true)
    }
    #else
    @Test("a service that is built without PostgreSQL says how it is built with it")
    func withoutTrait() {
        let error = self.failure("postgres://user@db.example.com/x")
        #expect(error?.code == .unsupported)
        #expect(error?.detail == "built without PostgreSQL: swift build --traits PostgreSQL")
    }
    #endif
}
