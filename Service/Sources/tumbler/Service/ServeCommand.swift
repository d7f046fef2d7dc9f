// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Logging
import PinListServer
import ServiceLifecycle
import UnixSignals

/// The service in the foreground.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve lists, take failure reports, show what happens and warn.",
        discussion: """
            Settings come from the file, from the environment (TUMBLER_LISTEN, TUMBLER_DATA_DIR, …) and from flags; the \
            later wins. Without any it serves on loopback, on SQLite in ./tumbler-data. SIGTERM ends it when what was \
            accepted is stored.
            """
    )

    @OptionGroup var service: LocalServiceOptions

    @Option(help: ArgumentHelp("Where lists are served and reports are taken.", valueName: "host:port"))
    var listen: String?

    @Option(
        help: ArgumentHelp(
            "Where the dashboard, the metrics and publications are instead; none for the same place.",
            valueName: "host:port"))
    var adminListen: String?

    @Option(
        name: .customLong("name"),
        help: ArgumentHelp("A name that may be published, with the root that its app ships.", valueName: "name=root"))
    var names: [String] = []

    @Flag(help: "Check the configuration and the database, and end.")
    var check = false

    @Flag(help: "Print each setting with where it comes from, and end.")
    var printConfig = false

    @Flag(help: "With --print-config: as JSON.")
    var json = false

    @Option(
        help: ArgumentHelp("trace, debug, info, notice, warning or error.", valueName: "level"),
        transform: { text in
            guard let level = Logger.Level(rawValue: text) else { throw ValidationError("\(text) is no level") }
            return level
        })
    var logLevel: Logger.Level = .notice

    func run() async throws {
        var flags: [String: String] = [:]
        flags["listen"] = self.listen
        flags["adminListen"] = self.adminListen
        let settings = try self.service.layers(flags)
        var configuration = settings.configuration
        for name in self.names {
            let parts = name.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw CommandFailure(.usage, "--name \(name) is not NAME=ROOT") }
            configuration.roots[parts[0]] = try InputFile.read(parts[1])
        }
        if self.printConfig { return try self.print(settings.shown) }
        let store = try LocalServiceOptions.store(configuration)
        var logger = Logger(label: "tumbler") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = self.logLevel
        let service = PinListService(configuration, store: store, instance: UUID().uuidString, logger: logger) {
            listening in
            // One line each, when it can be used: what starts the service waits for them.
            try? StandardOutput.write(lines: ["\(listening.isAdmin ? "operator" : "public") \(listening.address)"])
        }
        if self.check {
            let clients = try await service.check()
            return try StandardOutput.write(lines: clients + ["the configuration and the database are in order"])
        }
        if configuration.roots.isEmpty {
            StandardError.note("no name is configured: nothing can be published; see names: in the configuration")
        }
        try await ServiceGroup(
            configuration: .init(
                services: [service], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        ).run()
    }

    private func print(_ shown: [ServiceSettings.Shown]) throws {
        struct Setting: Encodable {
            let name: String
            let value: String
            let origin: String
        }
        if self.json {
            return try JSONOutput.write(shown.map { Setting(name: $0.name, value: $0.value, origin: $0.origin) })
        }
        try StandardOutput.write(
            lines: shown.map { "\($0.name): \($0.value.isEmpty ? "none" : $0.value)   # \($0.origin)" })
    }
}
