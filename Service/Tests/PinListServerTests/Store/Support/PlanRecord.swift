// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import PinListServer
@testable import PinListStore

/// The plan of a database for each statement that a store was asked, seen by asking it just before.
///
/// `@unchecked Sendable`: because its variables are read and written under the lock only.
final class PlanRecord: @unchecked Sendable {
    /// A connection that writes down the plan of each statement that has one.
    private struct Connection: SQLConnection {
        let next: any SQLConnection
        let record: PlanRecord

        func rows(_ sql: String, _ values: [SQLValue]) throws -> [SQLRow] {
            try self.record.explain(sql, values, self.next)
            return try self.next.rows(sql, values)
        }

        func execute(_ sql: String, _ values: [SQLValue]) throws -> Int {
            try self.record.explain(sql, values, self.next)
            return try self.next.execute(sql, values)
        }

        func lock(_ lock: StoreLock) throws { try self.next.lock(lock) }

        var rowLocks: SQLRowLocks { self.next.rowLocks }

        var rowPlace: String? { self.next.rowPlace }

        var hasReportDays: Bool { self.next.hasReportDays }

        func continueNumbers() throws { try self.next.continueNumbers() }
    }

    /// A store that answers as another one, and has its statements written down.
    struct Store: ServiceStore {
        let next: any ServiceStore
        let record: PlanRecord

        func read<Result: Sendable>(
            for reader: StoreReader, _ body: @escaping @Sendable (StoreTransaction) throws -> Result
        ) async throws -> Result {
            let record = self.record
            return try await self.next.read(for: reader) { store in
                try body(StoreTransaction(connection: Connection(next: store.connection, record: record)))
            }
        }

        func write<Result: Sendable>(
            as lock: StoreLock?, _ body: @escaping @Sendable (StoreTransaction) throws -> Result
        ) async throws -> Result {
            let record = self.record
            return try await self.next.write(as: lock) { store in
                try body(StoreTransaction(connection: Connection(next: store.connection, record: record)))
            }
        }

        func size() async throws -> Int64 { try await self.next.size() }

        func sizes() async throws -> [String: Int64] { try await self.next.sizes() }

        func backUp(to path: String) async throws { try await self.next.backUp(to: path) }
    }

    private let tested: TestedStore
    private let lock = NSLock()
    private var plans: [Statement: [String]] = [:]
    private var asked: [String: Int] = [:]

    /// A statement, with its values where they decide on the plan: on how many hours it reads.
    private struct Statement: Hashable {
        let sql: String
        let values: [SQLValue]

        private static let byHours = ["report_hour WHERE hour", "FROM inquiry ", "FROM group_hour "]

        init(_ sql: String, _ values: [SQLValue]) {
            (self.sql, self.values) = (sql, Self.byHours.contains { sql.contains($0) } ? values : [])
        }
    }

    /// A record of a kind of database, of which nothing is written down.
    init(_ tested: TestedStore) { self.tested = tested }

    /// The number of statements that were written down.
    var count: Int { self.lock.withLock { self.plans.count } }

    /// The number of times that statements with this part were asked.
    func timesAsked(_ part: String) -> Int {
        self.lock.withLock { self.asked.filter { $0.key.contains(part) }.values.reduce(0, +) }
    }

    /// The most tables of a day of reports that a statement with this part was planned to read.
    func reportDays(ofStatementsWith part: String) -> Int {
        let plans = self.lock.withLock { self.plans.filter { $0.key.sql.contains(part) } }
        return plans.values.map { plan in plan.filter { $0.contains(" on report_day_") }.count }.max() ?? 0
    }

    /// The plans that walk through a whole table, or through a whole index of it, each with its statement.
    ///
    /// - Parameters:
    ///   - tables: The tables that nothing may walk through.
    ///   - isAllowed: Says of a statement that it may all the same; it gets the values of those that read hours of reports.
    func walks(
        through tables: Set<String>, besides isAllowed: (String, [SQLValue]) -> Bool = { _, _ in false }
    ) -> [String] {
        let plans = self.lock.withLock { self.plans }
        let walks = plans.flatMap { statement, plan -> [String] in
            if isAllowed(statement.sql, statement.values) { return [] }
            return (self.tested == .sqlite ? Self.sqlite(statement.sql, plan) : Self.postgreSQL(plan))
                .filter { tables.contains($0) }.map { "\($0): \(statement.sql)" }
        }
        return Set(walks).sorted()
    }

    private func explain(_ sql: String, _ values: [SQLValue], _ connection: any SQLConnection) throws {
        self.lock.withLock { self.asked[sql, default: 0] += 1 }
        let verb = sql.drop { $0 == " " || $0 == "\n" }.prefix { $0 != " " && $0 != "\n" }.uppercased()
        guard ["SELECT", "WITH", "INSERT", "UPDATE", "DELETE"].contains(verb),
            case let statement = Statement(sql, values), self.lock.withLock({ self.plans[statement] == nil })
        else { return }
        let plan: [String]
        switch self.tested {
        case .sqlite: plan = try connection.rows("EXPLAIN QUERY PLAN " + sql, values).map { try $0.text(3) }
        case .postgreSQL: plan = try connection.rows("EXPLAIN " + sql, values).map { try $0.text(0) }
        }
        self.lock.withLock { self.plans[statement] = plan }
    }

    /// `SCAN table`, with or without an index. A walk in the order of an index that ends at a limit is none.
    private static func sqlite(_ sql: String, _ plan: [String]) -> [String] {
        let isSorted = plan.contains { $0.hasPrefix("USE TEMP B-TREE") }
        if sql.contains(" LIMIT "), !sql.contains(" WHERE "), !isSorted { return [] }
        return plan.compactMap { step in
            let words = step.split(separator: " ").map(String.init)
            guard words.count > 1, words[0] == "SCAN" else { return nil }
            // A plan names a table as the statement does.
            let alias = try? Regex("(\\w+) AS \(words[1])\\b")
            return alias.flatMap { sql.firstMatch(of: $0)?.output[1].substring.map(String.init) } ?? words[1]
        }
    }

    /// `Seq Scan on table`, and an index scan without a condition, but below a limit that needs no sorted rows. The table
    /// of a day of reports counts as `report`.
    private static func postgreSQL(_ plan: [String]) -> [String] {
        plan.indices.compactMap { index in
            let line = plan[index]
            if let match = line.firstMatch(of: /Seq Scan on (\w+)/) { return Self.table(match.1) }
            guard let match = line.firstMatch(of: /Index (?:Only )?Scan(?: Backward)? using \w+ on (\w+)/),
                !Self.isCutShort(index, in: plan)
            else { return nil }
            let details = plan[(index + 1)...].prefix { !$0.contains("->") }
            return details.contains { $0.contains("Index Cond:") } ? nil : Self.table(match.1)
        }
    }

    /// Whether a limit stands above a step, and nothing between them that needs all rows first.
    private static func isCutShort(_ index: Int, in plan: [String]) -> Bool {
        func depth(_ line: String) -> Int? {
            line.firstRange(of: "->").map { line.distance(from: line.startIndex, to: $0.lowerBound) }
        }
        var below = depth(plan[index]) ?? 0
        for place in (0..<index).reversed() {
            guard let depth = place == 0 ? -1 : depth(plan[place]), depth < below else { continue }
            below = depth
            if plan[place].contains("Limit") { return true }
            if ["Sort", "Aggregate", "Hash", "Group"].contains(where: { plan[place].contains($0) }) { return false }
        }
        return false
    }

    private static func table(_ name: Substring) -> String {
        name.hasPrefix("report_day_") || name.hasPrefix("report_before_") ? "report" : String(name)
    }
}
