// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation

/// `--list-version N --min-adoption PERCENT`: the share that must hold a list before the next step.
struct AdoptionDemand: ParsableArguments {
    @Option(
        name: .customLong("list-version"),
        help: ArgumentHelp("With --min-adoption: the version that is required, or a newer one.", valueName: "n"))
    var version: Int64?

    @Option(
        name: .customLong("min-adoption"),
        help: ArgumentHelp("Fail when fewer of the active installations hold --list-version.", valueName: "percent"))
    var percent: Double?

    @Option(
        name: .customLong("name"),
        help: ArgumentHelp("The name of the list; by default that of the project, or the only one.", valueName: "name"))
    var name: String?

    func validate() throws {
        if (self.version == nil) != (self.percent == nil) {
            throw ValidationError("--list-version and --min-adoption go together")
        }
        if let version, version < 1 { throw ValidationError("--list-version is a number from 1") }
        if let percent, !(0...100).contains(percent) {
            throw ValidationError("--min-adoption is a number from 0 to 100")
        }
        if self.name != nil, self.version == nil { throw ValidationError("--name goes with --list-version") }
    }

    /// The reason for which the demand is not met; `nil` when it is, or when there is none.
    ///
    /// - Parameters:
    ///   - status: The status of the service.
    ///   - project: The name of the project's list, where there is a project.
    /// - Throws: ``CommandError`` when it is ambiguous which list is meant.
    func shortfall(in status: ServiceStatus, project: String?) throws(CommandError) -> String? {
        guard let version, let percent else { return nil }
        let wanted = self.name ?? project
        let found = status.names.filter { wanted == nil || $0.name == wanted }
        guard let name = found.first, found.count == 1 else {
            let which = wanted.map { "the service knows no \(PrintableText.line($0))" }
            throw CommandError(
                .undecided, which ?? "the service has \(found.count) lists, and none is named",
                hint: "--name NAME, or -C DIR")
        }
        guard let share = name.adoption?.share(holding: version) else {
            return "it is not measured how many hold version \(version), and that counts as too few"
        }
        guard share * 100 < percent else { return nil }
        return "\(StatusLines.percent(share)) hold version \(version) or a newer one, and not \(Self.text(percent)) %"
    }

    private static func text(_ percent: Double) -> String {
        "\(percent)".hasSuffix(".0") ? String("\(percent)".dropLast(2)) : "\(percent)"
    }
}
