// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import PinListServer

/// The log of all that was changed.
struct AuditLogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit-log", abstract: "Verify or show the log of all that was changed.",
        subcommands: [AuditLogVerifyCommand.self, AuditLogShowCommand.self])
}

struct AuditLogVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check that each entry follows the one before, from the first to the newest.",
        discussion: """
            A log that was rewritten as a whole, or cut off at its end, holds together as well. Only a digest that \
            somebody kept shows it: the head is in every alert, in /metrics and in tumbler status. With --head, an entry \
            must have that digest.
            """)

    @Option(help: ArgumentHelp("A head that was kept.", valueName: "digest"))
    var head: String?

    @Flag(help: "Print what was found as JSON.")
    var json = false

    @OptionGroup var service: LocalServiceOptions

    /// How many entries are read at once.
    private static let page = 1_000

    func run() async throws {
        let store = try LocalServiceOptions.store(try self.service.layers().configuration)
        var chain = AuditChain(wanted: self.head)
        while true {
            let next = chain.count + 1
            let entries = try await store.read { try $0.auditEntries(from: next, limit: Self.page) }
            guard !entries.isEmpty else { break }
            do throws(AuditChain.Break) { for entry in entries { try chain.append(entry) } } catch {
                throw CommandFailure(
                    .doesNotHold, "the audit log does not hold: \(error)",
                    hint: "somebody changed the database by hand; compare it with a backup")
            }
        }
        guard self.head == nil || chain.hasWanted else {
            throw CommandFailure(
                .doesNotHold, "no entry has the digest \(self.head ?? ""): the log was rewritten or cut off",
                hint: "compare it with a backup of the time when the digest was kept")
        }
        struct Found: Encodable {
            let entries: Int64
            let head: String
        }
        if self.json { return try JSONOutput.write(Found(entries: chain.count, head: chain.head)) }
        try StandardOutput.write(lines: ["\(chain.count) entries hold; head \(chain.head)"])
    }
}

struct AuditLogShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Print the newest entries.")

    @Option(help: "How many.")
    var limit = 50

    @OptionGroup var service: LocalServiceOptions

    func run() async throws {
        let store = try LocalServiceOptions.store(try self.service.layers().configuration)
        let limit = max(1, self.limit)
        let entries = try await store.read { store in
            let newest = try store.newestAuditEntry()?.number ?? 0
            return try store.auditEntries(from: max(1, newest - Int64(limit) + 1), limit: limit)
        }
        try StandardOutput.write(
            lines: entries.map { "\($0.number)  \($0.time)  \($0.actor)  \($0.action)  \($0.detail)" })
    }
}
