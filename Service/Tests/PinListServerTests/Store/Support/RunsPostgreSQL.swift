// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PinListStore

/// Runs one PostgreSQL server beside the tests of a suite, where there is one to run.
struct RunsPostgreSQL: SuiteTrait, TestScoping {
    /// Whether tests of it can run: this run asks for them, it is installed, and so is its client library.
    static var isHere: Bool {
        Component.postgresql.isWanted && TestPostgreSQL.programs != nil && PostgreSQLLibrary.refusal == nil
    }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard Self.isHere else { return try await function() }
        try await TestPostgreSQL.withServer { server in
            try await server.running { try await TestPostgreSQL.$current.withValue(server) { try await function() } }
        }
    }
}

extension Trait where Self == RunsPostgreSQL {
    /// Runs a server beside the suite, where there is one to run.
    static var runsPostgreSQL: Self { RunsPostgreSQL() }
}

extension Trait where Self == ConditionTrait {
    /// Skips where there is no PostgreSQL.
    static var needsPostgreSQL: Self {
        .enabled(
            if: RunsPostgreSQL.isHere,
            Component.postgresql.isWanted
                ? "there is no initdb and postgres to run, or no libpq"
                : Component.postgresql.whoRunsIt)
    }
}
