// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PinListStore

@Suite(
    "The address of a PostgreSQL database",
    .enabled(if: PostgreSQLLibrary.refusal == nil, "there is no libpq: scripts/need libpq5"))
struct PostgreSQLAddressTests {
    private func refusal(_ address: String) -> String {
        do {
            _ = try PostgreSQLAddress(address)
            return "none"
        } catch { return error.detail }
    }

    @Test(
        "a password in it is refused, and not repeated",
        arguments: [
            "postgres://tumbler:s3cret@db.example.com/tumbler",
            "postgresql://tumbler@db.example.com/tumbler?password=s3cret",
            "postgres://tumbler:s3cret%zz@db.example.com/tumbler",
            "postgres://db.example.com/tumbler?sslpassword=s3cret",
            "postgres://tumbler:s3cret@[::1/tumbler",
        ])
    func passwordInItIsRefusedAndNotRepeated(address: String) {
        let refusal = self.refusal(address)
        #expect(refusal != "none")
        #expect(!refusal.contains("s3cret"))
    }

    @Test("a password in the address is refused, and the error says where it belongs")
    func passwordInTheAddressIsRefusedAndTheErrorSaysWhereItBelongs() {
        #expect(self.refusal("postgres://tumbler:s3cret@db.example.com/tumbler").contains("PGPASSFILE"))
    }

    @Test(
        "what would change how the service works is refused by its name",
        arguments: [("options", "-c%20synchronous_commit%3Doff"), ("service", "other"), ("gssencmode", "require")])
    func whatWouldChangeHowTheServiceWorksIsRefusedByItsName(name: String, value: String) {
        let refusal = self.refusal("postgres://db.example.com/tumbler?\(name)=\(value)")
        #expect(refusal.contains("says \(name)"))
    }

    @Test(
        "what is no address is refused",
        arguments: [
            "", "postgres://", "postgres:///tumbler", "mysql://db/x", "host=db dbname=x", "postgres://db/x y",
            "postgres://a,/x", "postgres://db/x\0", "postgres://db/\u{7F}",
            "postgres://db/" + String(repeating: "x", count: PostgreSQLLimits.maximumAddressLength),
        ])
    func whatIsNoAddressIsRefused(address: String) { #expect(self.refusal(address) != "none") }

    @Test(
        "what leaves the machine is encrypted to the right server, unless the address says otherwise",
        arguments: [
            ("postgres://db.example.com/x", "verify-full"), ("postgres://192.0.2.7:5433/x", "verify-full"),
            ("postgres://127.0.0.1/x", "prefer"), ("postgres://[::1]/x", "prefer"),
            ("postgres://localhost/x", "prefer"), ("postgres:///x?host=/run/postgresql", "prefer"),
            ("postgres://127.0.0.1,db.example.com/x", "verify-full"),
            ("postgres://127.example.com/x", "verify-full"),
            ("postgres://localhost/x?hostaddr=192.0.2.7", "verify-full"),
            ("postgres://db.example.com/x?sslmode=verify-ca", "verify-ca"),
        ])
    func whatLeavesTheMachineIsEncryptedToTheRightServerUnlessTheAddressSaysOtherwise(address: String, mode: String)
        throws
    {
        #expect(try PostgreSQLAddress(address).settings["sslmode"] == mode)
    }

    @Test("it means what it means to PostgreSQL's own tools")
    func itMeansWhatItMeansToPostgreSQLsOwnTools() throws {
        let address = try PostgreSQLAddress("postgres://a%40b@db1:5433,db2:5434/n%2Fm?target_session_attrs=read-write")
        #expect(
            address.settings == [
                "user": "a@b", "host": "db1,db2", "port": "5433,5434", "dbname": "n/m",
                "target_session_attrs": "read-write", "sslmode": "verify-full",
            ])
    }
}
