// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import Foundation
import PinListServer
import PinListStore

/// The options that the commands of the service share: which service is meant.
struct LocalServiceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The service's configuration; by default tumbler-service.yaml in this folder, where there is one.",
            valueName: "file"), completion: .file())
    var config: String?

    @Option(help: ArgumentHelp("The folder of the database.", valueName: "dir"), completion: .directory)
    var dataDir: String?

    @Option(help: ArgumentHelp("sqlite, or postgres://…", valueName: "address"))
    var database: String?

    /// The name of the file that is read when none is named.
    static let defaultName = "tumbler-service.yaml"

    /// The settings of these options, by the names that they have in the file.
    var settings: [String: String] {
        var settings: [String: String] = [:]
        settings["dataDir"] = self.dataDir
        settings["database"] = self.database
        return settings
    }

    /// Reads the configuration, and no file that it names.
    ///
    /// - Parameter flags: Settings of further options.
    /// - Throws: ``CommandError`` with what is wrong, and where.
    func layers(_ flags: [String: String] = [:]) throws -> ServiceSettings {
        let path = self.config ?? (FileManager.default.fileExists(atPath: Self.defaultName) ? Self.defaultName : nil)
        return try ServiceSettings(
            flags: self.settings.merging(flags) { $1 }, environment: ProcessInfo.processInfo.environment, file: path)
    }

    /// Opens the store that is configured.
    ///
    /// - Parameter purpose: The purpose of opening it: `serve` makes it and brings it up to date, no other command
    ///   does.
    /// - Throws: ``CommandError`` when it cannot be opened.
    static func store(
        _ configuration: ServiceConfiguration, for purpose: StoreLocation.Purpose
    ) throws -> any ServiceStore {
        do { return try StoreLocation.open(configuration, for: purpose) } catch let error as StoreError {
            // A wrong address is wrong at the next start as well.
            throw CommandError(
                error.code == .invalidAddress ? .doesNotHold : .undecided,
                "the database cannot be opened: \(error.detail)", hint: Self.hint(error.code, configuration.database))
        }
    }

    private static func hint(_ code: StoreError.Code, _ database: String) -> String {
        switch code {
        case .absent:
            "is this the service's dataDir and database? tumbler serve makes one, tumbler serve --migrate, too"
        case .outdated: "tumbler serve brings it up to date, tumbler serve --migrate, too; make a copy before"
        case .damaged: "docs/operations/service-damaged-database.md has what to do, in order"
        case .full: "docs/operations/service-full-disk.md has what to do, in order"
        case .invalidAddress: "correct database; docs/guides/service-on-postgresql.md, Say where it is"
        default:
            database == "sqlite"
                ? "look at dataDir, the rights of the folder, and the disk"
                : "start PostgreSQL, or correct database; docs/guides/service-on-postgresql.md, What can go wrong"
        }
    }
}
