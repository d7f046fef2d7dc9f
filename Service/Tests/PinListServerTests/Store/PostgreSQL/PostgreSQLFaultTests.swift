// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import PinListServer
@testable import PinListStore

@Suite("Failures of PostgreSQL", .needsPostgreSQL, .runsPostgreSQL)
struct PostgreSQLFaultTests {
    private static let evidence = SQLInsertion(into: "evidence", ["digest", "name", "at", "envelope"])

    private let server: TestPostgreSQL

    init() throws { self.server = try #require(TestPostgreSQL.current) }

    private func failure<Value>(_ body: () async throws -> Value) async -> StoreError? {
        do {
            _ = try await body()
            return nil
        } catch { return error as? StoreError }
    }

    @Test("the server is stopped and started again: errors meanwhile, and everything goes on afterwards")
    func serverIsStoppedAndStartedAgainErrorsMeanwhile() async throws {
        try await TestPostgreSQL.withServer { server in
            let store = try await server.running {
                let store = try server.open("postgres")
                try await store.note("before")
                return store
            }
            let (read, written) = (
                await self.failure { try await store.notes() }, await self.failure { try await store.note("x") }
            )
            #expect(read?.code == .unavailable)
            #expect(written?.code == .unavailable)
            try await server.running {
                try await store.note("after")
                #expect(try await store.notes() == ["before", "after"])
            }
        }
    }

    @Test("connections that were ended while they lay idle are made again before a caller sees it")
    func connectionsThatWereEndedWhileTheyLayIdleAreMadeAgainBeforeACallerSeesIt() async throws {
        let name = try self.server.makeDatabase()
        let store = try self.server.open(name)
        try await store.note("before")
        _ = try await store.notes()
        try self.server.administer("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'")
        try await store.note("after")
        #expect(try await store.notes() == ["before", "after"])
    }

    @Test(
        "what is appended on a connection that was ended while it lay idle is appended once, on another one",
        arguments: [true, false])
    func whatIsAppendedOnAConnectionThatWasEndedWhileItLayIdleIsAppendedOnce(_ isAsked: Bool) async throws {
        let name = try self.server.makeDatabase()
        let store = try self.server.open(name)
        let append = { (digest: String) in
            try await store.append { store in
                if isAsked { _ = try store.connection.rows("SELECT 1", []) }
                try store.connection.insert([[.text(digest), .text("n"), .integer(1), .blob([1])]], Self.evidence)
            }
        }
        try await append("before")
        try self.server.administer("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'")
        try await append("after")
        let digests = try await store.read { store in
            try store.connection.rows("SELECT digest FROM evidence ORDER BY digest", []).map { try $0.text(0) }
        }
        #expect(digests == ["after", "before"])
    }

    @Test("a connection that is lost while something is appended leaves nothing of it, and it is not tried again")
    func connectionThatIsLostWhileSomethingIsAppendedLeavesNothingOfIt() async throws {
        let store = try self.server.open()
        let runs = NIOLockedValueBox(0)
        try await store.append { _ = try $0.connection.rows("SELECT 1", []) }
        let error = await self.failure {
            try await store.append { store in
                runs.withLockedValue { $0 += 1 }
                _ = try store.connection.rows("SELECT 1", [])
                try store.connection.insert([[.text("d"), .text("n"), .integer(1), .blob([1])]], Self.evidence)
                _ = try store.connection.rows("SELECT pg_terminate_backend(pg_backend_pid())", [])
            }
        }
        #expect(error?.code == .unavailable)
        #expect(runs.withLockedValue { $0 } == 1)
        #expect(try await store.read { try $0.connection.rows("SELECT 1 FROM evidence", []).count } == 0)
    }

    @Test("a connection that is lost in the middle of a change leaves nothing of it")
    func connectionThatIsLostInTheMiddleOfAChangeLeavesNothingOfIt() async throws {
        let store = try self.server.open()
        let error = await self.failure {
            try await store.write { store in
                try store.addRoot([1], version: 1, name: "a")
                _ = try store.connection.rows("SELECT pg_terminate_backend(pg_backend_pid())", [])
            }
        }
        #expect(error?.code == .unavailable)
        #expect(try await store.read { try $0.names() }.isEmpty)
        try await store.note("after")
        #expect(try await store.notes() == ["after"])
    }

    @Test("a connection that is lost during COMMIT: the outcome is unknown, and the error says so")
    func connectionThatIsLostDuringCOMMITTheOutcomeIsUnknownAndTheErrorSaysSo() async throws {
        let name = try self.server.makeDatabase()
        let store = try self.server.open(name)
        try self.server.administer(
            """
            CREATE FUNCTION ends() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(60); RETURN NULL; END $$;
            CREATE CONSTRAINT TRIGGER ends AFTER INSERT ON root DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION ends()
            """, in: name)
        let error = await self.failure { try await store.write { try $0.addRoot([1], version: 1, name: "a") } }
        #expect(error?.code == .unknownOutcome)
        #expect(error?.detail.contains("unknown whether it was made") == true)
        try await store.note("after")
        #expect(try await store.notes() == ["after"])
    }

    @Test("a statement that takes too long is ended by the server, and the next one works")
    func statementThatTakesTooLongIsEndedByTheServerAndTheNextOneWorks() async throws {
        let store = try self.server.open()
        let setting = try await store.read { store in
            try store.connection.rows("SELECT current_setting('statement_timeout')", []).first?.text(0)
        }
        #expect(setting == "30s")
        let error = await self.failure {
            try await store.write { store in
                try store.connection.execute("SET LOCAL statement_timeout = 50", [])
                _ = try store.connection.rows("SELECT pg_sleep(600)", [])
            }
        }
        #expect(error?.code == .timedOut)
        #expect(error?.detail.contains("57014") == true)
        try await store.note("after")
        #expect(try await store.notes() == ["after"])
    }

    @Test("a server that says nothing any more is given up, and another connection is made")
    func serverThatSaysNothingAnyMoreIsGivenUpAndAnotherConnectionIsMade() async throws {
        var limits = PostgreSQLLimits()
        limits.readers = 1
        limits.silenceMilliseconds = 2_000
        let store = try self.server.open(self.server.makeDatabase(), limits)
        let error = await self.failure {
            try await store.read { _ = try $0.connection.rows("SELECT pg_sleep(600)", []) }
        }
        #expect(error?.code == .unavailable)
        #expect(error?.detail.contains("has not answered") == true)
        #expect(try await store.notes().isEmpty)
    }

    @Test("a server that says nothing to what is appended is waited for once: nobody is there for it a second time")
    func serverThatSaysNothingToWhatIsAppendedIsWaitedForOnce() async throws {
        var limits = PostgreSQLLimits()
        limits.silenceMilliseconds = 2_000
        let store = try self.server.open(self.server.makeDatabase(), limits)
        try await store.append { _ = try $0.connection.rows("SELECT 1", []) }
        let runs = NIOLockedValueBox(0)
        let error = await self.failure {
            try await store.append { store in
                runs.withLockedValue { $0 += 1 }
                _ = try store.connection.rows("SELECT pg_sleep(600)", [])
            }
        }
        #expect(error?.code == .unavailable)
        #expect(error?.detail == "the database has not answered for 2000 ms")
        #expect(runs.withLockedValue { $0 } == 1)
    }

    @Test("what was begun with a statement that cannot be prepared is taken back, also where its caller goes on")
    func whatWasBegunWithAStatementThatCannotBePreparedIsTakenBack() async throws {
        let store = try self.server.open()
        try await store.append { _ = try $0.connection.rows("SELECT 1", []) }
        let error = await self.failure {
            try await store.append { store in
                _ = try? store.connection.rows("SELECT nothing FROM nowhere WHERE number = ?", [.integer(1)])
                try store.connection.insert([[.text("d"), .text("n"), .integer(1), .blob([1])]], Self.evidence)
            }
        }
        #expect(error != nil)
        #expect(try await store.read { try $0.connection.rows("SELECT 1 FROM evidence", []).count } == 0)
    }

    @Test("an instance that keeps others from writing: they are told that it is busy, and can still read")
    func instanceThatKeepsOthersFromWritingTheyAreToldThatItIsBusyAndCanStillRead() async throws {
        var limits = PostgreSQLLimits()
        limits.lockMilliseconds = 50
        limits.waitingCalls = 1
        let name = try self.server.makeDatabase()
        let (store, other) = (try self.server.open(name), try self.server.open(name, limits))
        let (begun, hasBegun) = AsyncStream.makeStream(of: Void.self)
        let mayGoOn = DispatchSemaphore(value: 0)
        async let holding: Void = store.write { store in
            hasBegun.yield()
            mayGoOn.wait()
        }
        for await _ in begun { break }
        let error = await self.failure { try await other.note("refused") }
        let notes = await Result { try await other.notes() }
        mayGoOn.signal()
        try await holding
        #expect(error?.code == .busy)
        #expect(try notes.get().isEmpty)
        try await other.note("after")
        #expect(try await store.notes() == ["after"])
    }

    @Test("more calls than may wait are refused at once")
    func moreCallsThanMayWaitAreRefusedAtOnce() async throws {
        var limits = PostgreSQLLimits()
        limits.waitingCalls = 2
        let store = try self.server.open(self.server.makeDatabase(), limits)
        let (begun, hasBegun) = AsyncStream.makeStream(of: Void.self)
        let mayGoOn = DispatchSemaphore(value: 0)
        async let holding: Void = store.write { store in
            hasBegun.yield()
            mayGoOn.wait()
        }
        for await _ in begun { break }
        let codes = await withTaskGroup(of: StoreError.Code?.self) { group in
            for number in 0..<5 { group.addTask { await self.failure { try await store.note("\(number)") }?.code } }
            var codes: [StoreError.Code?] = []
            for await code in group {
                codes.append(code)
                // Three of five find no room, whichever they are; then the two that wait may go on.
                if codes.count == 3 { mayGoOn.signal() }
            }
            return codes
        }
        try await holding
        #expect(codes == [.busy, .busy, .busy, nil, nil])
        #expect(try await store.notes().count == 2)
    }

    @Test("a caller that goes on after a failed statement has changed nothing, and gets an error")
    func callerThatGoesOnAfterAFailedStatementHasChangedNothingAndGetsAnError() async throws {
        let store = try self.server.open()
        let error = await self.failure {
            try await store.write { store in
                try store.addRoot([1], version: 1, name: "a")
                _ = try? store.addRoot([1], version: 1, name: "a")
            }
        }
        #expect(error?.detail.contains("nothing was changed") == true)
        #expect(try await store.read { try $0.names() }.isEmpty)
    }

    @Test("a table that another version changed meanwhile, and more statements than are kept prepared")
    func tableThatAnotherVersionChangedMeanwhileAndMoreStatementsThanAreKeptPrepared() async throws {
        var limits = PostgreSQLLimits()
        limits.preparedStatements = 2
        limits.readers = 1
        let name = try self.server.makeDatabase()
        let store = try self.server.open(name, limits)
        let read: @Sendable () async throws -> Int? = {
            try await store.read { store in
                for number in 0..<5 {
                    let rows = try store.connection.rows("SELECT \(number) + ?", [.integer(1)])
                    #expect(try rows.first?.integer(0) == Int64(number + 1))
                }
                return try store.connection.rows("SELECT * FROM inquiry WHERE hour >= ?", [.integer(0)]).count
            }
        }
        #expect(try await read() == 0)
        try self.server.administer("ALTER TABLE inquiry ADD COLUMN later BIGINT", in: name)
        _ = await self.failure(read)
        #expect(try await read() == 0)
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
