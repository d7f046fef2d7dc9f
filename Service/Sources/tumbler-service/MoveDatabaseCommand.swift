// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import PinListServer
import PinListStore

/// From one database to another one.
struct MoveDatabaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: ServiceCommand.moveDatabase.rawValue, abstract: ServiceCommand.moveDatabase.abstract,
        discussion: """
            Stop the service first. Then set database: in its configuration to the new one and start it. The old one is \
            left as it is.
            """)

    @Option(help: ArgumentHelp("The target database: postgres://…, or sqlite.", valueName: "address"))
    var to: String

    @Option(
        help: ArgumentHelp("With --to sqlite: the folder of the new database.", valueName: "dir"),
        completion: .directory)
    var toDataDir: String?

    @OptionGroup var service: LocalServiceOptions

    func run() async throws {
        let configuration = try self.service.layers().configuration
        var target = configuration
        target.database = self.to
        if let toDataDir { target.dataDirectory = toDataDir }
        guard target.database != configuration.database || target.dataDirectory != configuration.dataDirectory else {
            throw CommandError(.usage, "this is the same database", hint: "--to, and with sqlite --to-data-dir")
        }
        let move = StoreMove(
            from: try LocalServiceOptions.store(configuration, for: .reading),
            to: try LocalServiceOptions.store(target, for: .serving))
        try await move.run { table, count in StandardError.note("\(table): \(count) rows") }
        try StandardOutput.write(lines: ["copied to \(self.to)"])
    }
}
