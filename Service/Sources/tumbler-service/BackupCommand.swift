// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import PinListServer
import PinListStore

/// A copy of the database, made while the service runs.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: ServiceCommand.backup.rawValue, abstract: ServiceCommand.backup.abstract,
        discussion: """
            Restore: stop the service, move tumbler.sqlite, tumbler.sqlite-wal and tumbler.sqlite-shm out of dataDir, put \
            the file there as tumbler.sqlite, start the service. An old tumbler.sqlite-wal would damage it. Tokens that \
            were revoked since count again: docs/operations/service-backup-and-restore.md has every step.
            """)

    @Argument(help: "The new file.", completion: .file())
    var file: String

    @OptionGroup var service: LocalServiceOptions

    func run() async throws {
        let store = try LocalServiceOptions.store(try self.service.layers().configuration, for: .copying)
        do {
            try await WorkProgress.during("copying the database") { _ in try await store.backUp(to: self.file) }
        } catch let error as StoreError {
            throw CommandError(
                .undecided, "no backup was made: \(error.detail)",
                hint: error.code == .unsupported
                    ? "PostgreSQL: pg_dump; SQLite: name a file that is not there yet" : nil)
        }
        try StandardOutput.write(lines: ["backed up to \(self.file)"])
    }
}
