// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import Foundation
import Logging
import NIOCore
import PinListServer
import PinListStore
import ServiceLifecycle
import UnixSignals

/// The service in the foreground.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: ServiceCommand.serve.rawValue,
        abstract: ServiceCommand.serve.abstract,
        discussion: """
            Settings come from the file, from the environment (TUMBLER_LISTEN, TUMBLER_DATA_DIR, …) and from flags; the \
            later wins. Without any it serves on loopback, on SQLite in ./tumbler-data. SIGTERM ends it when what was \
            accepted is stored.

            On a terminal it prints a link that logs a browser in to the dashboard, once, within ten minutes; tumbler \
            login-link prints another.
            """
    )

    @OptionGroup var service: LocalServiceOptions

    @Option(help: ArgumentHelp("The address for lists and reports.", valueName: "host:port"))
    var listen: String?

    @Option(
        help: ArgumentHelp(
            "The address for the dashboard, the metrics and publications; none for the same one.",
            valueName: "host:port"))
    var adminListen: String?

    @Option(
        name: .customLong("name"),
        help: ArgumentHelp("A name that may be published, with the root that its app ships.", valueName: "name=root"))
    var names: [String] = []

    @Flag(help: "Open the dashboard in a browser, logged in.")
    var open = false

    @Flag(help: "Check the configuration and the database, and exit. Nothing is written.")
    var check = false

    @Flag(
        help: ArgumentHelp(
            "Make the database, or migrate an older one, and exit.",
            discussion: "serve does this at its start; the flag is for tables that the service does not own."))
    var migrate = false

    @Flag(help: "Print each setting and its origin, and exit.")
    var printConfig = false

    @Flag(help: "With --print-config: as JSON.")
    var json = false

    @Option(
        help: ArgumentHelp("trace, debug, info, notice, warning or error.", valueName: "level"),
        completion: .list(Logger.Level.allCases.map(\.rawValue)),
        transform: { text in
            guard let level = Logger.Level(rawValue: text) else { throw ValidationError("\(text) is not a level") }
            return level
        })
    var logLevel: Logger.Level = .notice

    func validate() throws {
        guard !self.check || !self.migrate else { throw ValidationError("--check writes nothing, and --migrate does") }
    }

    func run() async throws {
        var flags: [String: String] = [:]
        flags["listen"] = self.listen
        flags["adminListen"] = self.adminListen
        let settings = try self.service.layers(flags)
        if self.printConfig { return try self.print(settings.shown) }
        var configuration = settings.configuration
        // Reads no root and no secret of an alert: those that systemd hands over are there only while the service runs.
        if self.migrate {
            _ = try LocalServiceOptions.store(configuration, for: .serving)
            return try StandardOutput.write(lines: ["the database is of this version"])
        }
        configuration.roots = try settings.roots()
        for name in self.names {
            let parts = name.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw CommandError(.usage, "--name \(name) is not NAME=ROOT") }
            configuration.roots[parts[0]] = try InputFile.read(parts[1])
        }
        if self.check {
            configuration.alerts = try settings.alerts(unreadable: { Self.warn($0) })
        } else {
            configuration.alerts = try settings.alerts()
        }
        if configuration.openOnLoopback, !configuration.isOpen {
            StandardError.warning("openOnLoopback does nothing: \(configuration.operatorListen) is not loopback alone")
        }
        let store =
            self.check ? try Self.checked(configuration) : try LocalServiceOptions.store(configuration, for: .serving)
        var logger = Logger(label: "tumbler") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = self.logLevel
        let link = await self.link(store, configuration)
        let opening = self.opening
        defer { opening?.clear() }
        let service = PinListService(
            configuration, store: store, instance: UUID().uuidString, descriptors: DescriptorLimit.current,
            eventLoops: ProcessorCount.current, logger: logger
        ) { listening in
            // One line each, when it can be used: what starts the service waits for them.
            try? StandardOutput.write(lines: ["\(listening.isAdmin ? "operator" : "public") \(listening.address)"])
            guard listening.isAdmin else { return }
            let address = link?.text(at: listening.address) ?? listening.address
            if link != nil, Self.isAtTerminal {
                try? StandardOutput.write(lines: ["log in, once, within ten minutes: \(address)"])
            }
            do throws(CommandError) { try opening?.open(address) } catch {
                StandardError.note("no browser was opened: \(error.message)")
            }
        }
        if self.check {
            let clients = try await service.check()
            return try StandardOutput.write(
                lines: clients + ["the configuration\(store is AbsentStore ? " is" : " and the database are") in order"]
            )
        }
        if configuration.roots.isEmpty {
            StandardError.note("no name is configured: nothing can be published; see names: in the configuration")
        }
        try await ServiceGroup(
            configuration: .init(
                services: [service, ShutdownLimit(logger: logger)], gracefulShutdownSignals: [.sigterm, .sigint],
                logger: logger)
        ).run()
    }

    /// The store of a check. One that is not there, or that an older version wrote, is what `serve` finds when it begins,
    /// and no fault: a check stands in front of a start.
    private static func checked(_ configuration: ServiceConfiguration) throws -> any ServiceStore {
        do { return try StoreLocation.open(configuration, for: .reading) } catch let error as StoreError {
            switch error.code {
            case .absent: StandardError.note("\(error.detail); tumbler serve makes it")
            case .outdated: StandardError.note("\(error.detail); tumbler serve brings it up to date")
            default: return try LocalServiceOptions.store(configuration, for: .reading)
            }
            return AbsentStore(error)
        }
    }

    /// Whether a person sees what is printed. What is no terminal keeps it: no link goes there.
    private static var isAtTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    private static func warn(_ failure: CommandError) {
        StandardError.warning("\(failure.message); tumbler serve does not start until its user can read it")
    }

    private var opening: BrowserOpening? {
        guard self.open else { return nil }
        let folder = FileManager.default.temporaryDirectory
        return BrowserOpening(
            path: ProcessInfo.processInfo.environment["PATH"] ?? "",
            folder: folder.appendingPathComponent("tumbler-\(UUID().uuidString)", isDirectory: true))
    }

    /// A link for the person at the terminal, or for the browser; none where neither is. Lists are served without it.
    private func link(_ store: any ServiceStore, _ configuration: ServiceConfiguration) async -> LoginLink? {
        guard self.open || Self.isAtTerminal, !self.check, !configuration.isOpen else { return nil }
        let owner = OperatingUser.name(ProcessInfo.processInfo.environment)
        do {
            return try await LoginLink.make(in: store, owner: owner, by: "serve", at: SystemServiceClock().now)
        } catch {
            StandardError.note("no log-in link was made: \(error)")
            return nil
        }
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

/// The number of descriptors that the system allows this process.
enum DescriptorLimit {
    /// `RLIMIT_NOFILE`, the soft one (getrlimit(2)); `nil` where there is none, or it cannot be told.
    static var current: Int? {
        var limit = rlimit()
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { return nil }
        return Int(exactly: limit.rlim_cur)
    }
}

/// The number of processors that this process may run on.
enum ProcessorCount {
    /// The processors that the system gives it (`Cpus_allowed` of proc(5), as `taskset` sets it), and no more than its
    /// group may use: two threads that serve on one processor take turns, and each turn costs more than the answer to a
    /// request.
    static var current: Int {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("Cpus_allowed:") })
        else { return System.coreCount }
        // A mask in hexadecimal digits, with commas between groups.
        let allowed = line.dropFirst("Cpus_allowed:".count).reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) }
        return max(1, min(allowed, System.coreCount))
    }
}
