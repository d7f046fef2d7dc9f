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
        discussion: "Restore: stop the service, put the file into dataDir as tumbler.sqlite, start it.")

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
