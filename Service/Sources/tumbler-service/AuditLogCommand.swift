// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import PinListServer
import PinListStore

/// The log of all that was changed.
struct AuditLogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: ServiceCommand.auditLog.rawValue, abstract: ServiceCommand.auditLog.abstract,
        subcommands: [AuditLogVerifyCommand.self, AuditLogShowCommand.self])
}

struct AuditLogVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Verify the chain of the audit log, from the oldest entry to the newest.",
        discussion: """
            A log that was rewritten as a whole, or cut off at its end, holds together as well. Only a digest that \
            was kept elsewhere shows it: the head is in every alert, in /metrics and in tumbler status. With --head, an \
            entry must have that digest, or the seal of a month.

            Each month that is over is sealed: an entry of the log names the number and the digest of its last entry. \
            Entries older than retention.auditDays are removed month by month. What is left must follow the seals, and a \
            copy of the log that ends with a month has the head of its seal.
            """)

    @Option(help: ArgumentHelp("A head that was kept elsewhere.", valueName: "digest"))
    var head: String?

    @Flag(help: "Print the result as JSON.")
    var json = false

    @OptionGroup var service: LocalServiceOptions

    /// The number of entries that are read at once.
    private static let page = 1_000

    func run() async throws {
        let store = try LocalServiceOptions.store(try self.service.layers().configuration, for: .reading)
        let seals = try await store.read { try $0.auditSeals() }
        let chain = try await Self.verified(AuditChain(seals: seals, wanted: self.head), in: store)
        let oldest = chain.first ?? 1
        try self.expectHead(in: chain, from: oldest)
        if self.json { return try JSONOutput.write(Found(chain, seals)) }
        let removed = oldest > 1 ? "; entries 1 to \(oldest - 1) were sealed and removed" : ""
        try StandardOutput.write(
            lines: ["\(chain.count) entries hold; head \(chain.head)\(removed)"]
                + seals.map { "sealed \($0.period): entries \($0.first) to \($0.last); head \($0.head)" })
    }

    /// The result that `--json` prints.
    private struct Found: Encodable {
        struct Seal: Encodable {
            let period: String
            let first, last: Int64
            let head: String
        }

        let entries, oldest: Int64
        let head: String
        let seals: [Seal]

        init(_ chain: AuditChain, _ seals: [AuditSeal]) {
            self.entries = chain.count
            self.oldest = chain.first ?? 1
            self.head = chain.head
            self.seals = seals.map {
                Seal(period: $0.period.description, first: $0.first, last: $0.last, head: $0.head)
            }
        }
    }

    /// A chain with all entries that are left.
    private static func verified(_ chain: AuditChain, in store: any ServiceStore) async throws -> AuditChain {
        var chain = chain
        while true {
            let next = chain.count + 1
            let entries = try await store.read { try $0.auditEntries(from: next, limit: Self.page) }
            do throws(AuditChain.VerificationError) {
                for entry in entries { try chain.append(entry) }
                if entries.isEmpty {
                    try chain.finish()
                    return chain
                }
            } catch {
                throw CommandError(
                    .doesNotHold, "the audit log does not verify: \(error)",
                    hint: "the database was changed outside of the service; compare it with a backup")
            }
        }
    }

    /// Expects the digest that was kept elsewhere.
    private func expectHead(in chain: AuditChain, from oldest: Int64) throws(CommandError) {
        guard let head, !chain.hasWanted else { return }
        guard oldest > 1 else {
            throw CommandError(
                .doesNotHold, "no entry has the digest \(head): the log was rewritten or cut off",
                hint: "compare it with a backup of the time when the digest was kept")
        }
        throw CommandError(
            .undecided,
            "neither an entry that is left nor a seal has the digest \(head): it is that of one of the entries 1 to "
                + "\(oldest - 1), which were removed, or the log was rewritten or cut off",
            hint: "find it in a backup that reaches to the end of its month, and compare that month's seal")
    }
}

struct AuditLogShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Print the newest entries.")

    @Option(help: "How many.")
    var limit = 50

    @Flag(help: "Print an array of objects.")
    var json = false

    @OptionGroup var service: LocalServiceOptions

    /// An entry as `--json` prints it.
    private struct PrintedEntry: Encodable {
        let number: Int64
        let time: String
        let actor: String
        let action: String
        let detail: String
    }

    func run() async throws {
        let store = try LocalServiceOptions.store(try self.service.layers().configuration, for: .reading)
        let limit = max(1, self.limit)
        let entries = try await store.read { store in
            let newest = try store.newestAuditEntry()?.number ?? 0
            return try store.auditEntries(from: max(1, newest - Int64(limit) + 1), limit: limit)
        }
        if self.json {
            return try JSONOutput.write(
                entries.map {
                    PrintedEntry(
                        number: $0.number, time: "\($0.time)", actor: $0.actor, action: $0.action,
                        detail: $0.detail)
                })
        }
        try StandardOutput.write(
            lines: entries.map { "\($0.number)  \($0.time)  \($0.actor)  \($0.action)  \($0.detail)" })
    }
}
