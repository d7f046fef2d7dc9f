// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Testing

@testable import PinListServer
@testable import PinListStore

@Suite("Several at one store", .runsPostgreSQL)
struct StoreIsolationTests {
    private static let time = Timestamp(secondsSince1970: 1_795_219_200)

    private static func log(_ store: any ServiceStore, _ detail: String) async throws {
        try await store.write { try $0.log("note", detail, by: "test", at: Self.time) }
    }

    private static func chain(_ store: any ServiceStore) async throws -> AuditChain {
        var chain = AuditChain()
        for entry in try await store.read({ try $0.auditEntries(from: 1, limit: 1_000) }) { try chain.append(entry) }
        return chain
    }

    @Test("200 changes by two instances at once: none is lost, none comes between", arguments: TestedStore.all)
    func of200ChangesByTwoInstancesAtOnceNoneIsLostNoneComesBetween(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let stores = [try open(), try open()]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask { try await Self.log(stores[number % 2], "note \(number)") }
                }
                try await group.waitForAll()
            }
            #expect(try await Self.chain(stores[0]).count == 200)
            let details = try await stores[1].read { try $0.auditEntries(from: 1, limit: 1_000).map(\.detail) }
            #expect(Set(details).count == 200)
        }
    }

    @Test("a read is of one moment, while others change it", arguments: TestedStore.all)
    func readIsOfOneMomentWhileOthersChangeIt(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let (store, other) = (try open(), try open())
            try await Self.log(other, "before")
            let (looked, hasLooked) = AsyncStream.makeStream(of: Void.self)
            let isWritten = DispatchSemaphore(value: 0)
            async let counts = store.read { store in
                let first = try store.auditEntries(from: 1, limit: 10).count
                hasLooked.yield()
                isWritten.wait()
                return [first, try store.auditEntries(from: 1, limit: 10).count]
            }
            for await _ in looked { break }
            do {
                defer { isWritten.signal() }
                try await Self.log(other, "meanwhile")
            }
            #expect(try await counts == [1, 1])
            #expect(try await Self.chain(store).count == 2)
        }
    }

    @Test("a change is not begun on what was read before another's", arguments: TestedStore.all)
    func changeIsNotBegunOnWhatWasReadBeforeAnothers(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let (store, other) = (try open(), try open())
            let (begun, hasBegun) = AsyncStream.makeStream(of: Void.self)
            let mayGoOn = DispatchSemaphore(value: 0)
            async let first: Void = store.write { store in
                hasBegun.yield()
                mayGoOn.wait()
                try store.log("note", "first", by: "test", at: Self.time)
            }
            for await _ in begun { break }
            async let second: Void = Self.log(other, "second")
            mayGoOn.signal()
            _ = try await (first, second)
            let entries = try await store.read { try $0.auditEntries(from: 1, limit: 10) }
            #expect(entries.map(\.detail) == ["first", "second"])
            #expect(try await Self.chain(store).count == 2)
        }
    }

    @Test("a reader that tries to write changes nothing", arguments: TestedStore.all)
    func readerThatTriesToWriteChangesNothing(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            await #expect(throws: StoreError.self) {
                try await store.read { try $0.log("note", "x", by: "test", at: Self.time) }
            }
            #expect(try await Self.chain(store).count == 0)
        }
    }

    @Test(
        "the database itself refuses to change the audit log", arguments: TestedStore.all,
        ["UPDATE audit SET detail = 'nothing'", "DELETE FROM audit", "DELETE FROM audit WHERE number = 2"])
    func databaseItselfRefusesToChangeTheAuditLog(on tested: TestedStore, sql: String) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            for number in 1...3 { try await Self.log(store, "note \(number)") }
            let error = await #expect(throws: StoreError.self) {
                try await store.write { try $0.connection.execute(sql, []) }
            }
            #expect(error?.detail.contains("the audit log is only appended to") == true)
            #expect(try await Self.chain(store).count == 3)
        }
    }

    @Test("a database of a later version is not touched", arguments: TestedStore.all)
    func databaseOfALaterVersionIsNotTouched(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            try await store.write { store in
                _ = try store.connection.execute("INSERT INTO migration (number) VALUES (?)", [.integer(99)])
            }
            let error = #expect(throws: StoreError.self) { _ = try open() }
            #expect(error?.code == .unsupported)
            #expect(error?.detail.contains("schema 99") == true)
        }
    }

    @Test("an instance that starts on what others have made changes nothing of it", arguments: TestedStore.all)
    func instanceThatStartsOnWhatOthersHaveMadeChangesNothingOfIt(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            try await Self.log(try open(), "before")
            let stores = try (0..<3).map { _ in try open() }
            for store in stores { #expect(try await Self.chain(store).count == 1) }
        }
    }

    @Test("instances are counted while they are there", arguments: TestedStore.all)
    func instancesAreCountedWhileTheyAreThere(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let (one, other) = (try open(), try open())
            @Sendable func stay(_ name: String, in store: any ServiceStore, after seconds: Int64) async throws -> Int {
                let time = Timestamp(secondsSince1970: TurnedClock.start.secondsSince1970 + seconds)
                return try await store.write { try $0.stay(name, at: time, seconds: 45) }
            }
            var counts = [try await stay("a", in: one, after: 0), try await stay("b", in: other, after: 0)]
            counts.append(try await stay("a", in: one, after: 15))
            // The other one was killed.
            counts.append(try await stay("a", in: one, after: 44))
            counts.append(try await stay("a", in: one, after: 45))
            counts.append(try await stay("b", in: other, after: 46))
            try await other.write { try $0.leave("b") }
            counts.append(try await stay("a", in: one, after: 47))
            #expect(counts == [1, 2, 2, 2, 1, 2, 1])
        }
    }
}
