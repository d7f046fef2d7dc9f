// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinListServer
import Testing

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
