// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
@_spi(Tools) import PinListRepository
@_spi(Tools) import PinningMigration

/// Another tool's configuration, both ways.
struct ConvertCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Read or write another tool's configuration.",
        discussion: """
            With --from, FILE is that tool's: trustkit and nspinneddomains are property lists, XML or binary, a whole \
            Info.plist or its dictionary alone; android is the XML of the network security configuration; okhttp is \
            Kotlin or Java with CertificatePinner.Builder. The result is a domains section for tumbler.yaml.

            With --to, the result is that tool's configuration: of a tumbler.yaml, of a list (an envelope or its \
            payload; signatures are not looked at), or of FILE with --from. Without an argument the source of the \
            project folder is read.

            Each difference of the result is a warning on standard error, one line each; "accepts more" and \
            "refuses more" say its effect. Exit code 0: converted, warnings or not; 1: nothing usable was found.
            """
    )

    @Argument(
        help: ArgumentHelp("A configuration, a tumbler.yaml or a list; - is standard input.", valueName: "file"),
        completion: .file())
    var input: String?

    @Option(help: "The tool whose configuration is read.")
    var from: ToolOption?

    @Option(help: "The tool whose configuration is written.")
    var to: ToolOption?

    @Flag(help: "Print JSON: the result as output, and the warnings.")
    var json = false

    @OptionGroup var project: ProjectOption

    func validate() throws {
        guard self.from != nil || self.to != nil else {
            throw ValidationError("name the form to read with --from, or the form to write with --to")
        }
        if self.from != nil, self.input == nil { throw ValidationError("--from needs a file, or - for standard input") }
    }

    func run() throws {
        let conversion: Conversion
        if let from, let input {
            let migrated = try Self.read(input, as: from.format)
            conversion = self.to.map { Conversion(migrated, to: $0.format) } ?? Conversion(migrated)
        } else if let to {
            conversion = Conversion(try self.rules(), to: to.format)
        } else {
            return
        }
        guard conversion.entryCount > 0 else {
            conversion.printWarnings()
            throw CommandError(
                .doesNotHold, "nothing is left to write: no entry can be expressed in that form",
                hint: "the warnings say what was left out, and why")
        }
        if self.json { return try JSONOutput.write(conversion) }
        conversion.printWarnings()
        try StandardOutput.write(Data(conversion.output.utf8))
    }

    private static func read(_ input: String, as format: MigrationFormat) throws(CommandError) -> MigratedPins {
        let bytes = try InputFile.read(input)
        do { return try MigratedPins(bytes, as: format) } catch {
            let exit: CommandExit = error.code == .nothingPinned ? .doesNotHold : .undecided
            throw CommandError(exit, "\(input): \(error.reason)", hint: error.hint)
        }
    }

    /// The rules of a list as it is, or of a source.
    private func rules() throws -> MigratedRules {
        if let input, !input.hasSuffix(".yaml"), !input.hasSuffix(".yml") {
            let bytes = try InputFile.read(input)
            if KnownList.isJSON(bytes) { return MigratedRules(try KnownList(bytes, named: input, roots: []).list) }
        }
        return MigratedRules(try SourceInput(self.input, self.project).source)
    }
}

/// A tool, as it is named on the command line.
enum ToolOption: String, CaseIterable, ExpressibleByArgument {
    /// TrustKit.
    case trustkit
    /// Apple's own.
    case nspinneddomains
    /// Android's network security configuration.
    case android
    /// OkHttp.
    case okhttp

    /// The form of the file.
    var format: MigrationFormat {
        switch self {
        case .trustkit: .trustKit
        case .nspinneddomains: .pinnedDomains
        case .android: .android
        case .okhttp: .okHttp
        }
    }
}
