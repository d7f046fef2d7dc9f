// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import PinListMetadata
import PinListRepository

/// What `root new` and `root rotate` have in common: thresholds and times.
struct RootTermsOptions: ParsableArguments {
    @Option(
        name: .customLong("threshold"),
        help: ArgumentHelp("How many keys of a role must sign: root=2, pins=1.", valueName: "role=n"))
    var thresholds: [RoleOption] = []

    @Option(help: ArgumentHelp("How long the root is valid: 90s, 5m, 12h, 1095d.", valueName: "duration"))
    var validFor: String?

    @OptionGroup var time: TimeOption

    /// The change so far: times and thresholds.
    ///
    /// - Throws: ``CommandFailure`` for a number or a duration that is none.
    func change() throws(CommandFailure) -> RootChange {
        var change = RootChange(issuedAt: self.time.time)
        if let validFor { change.validity = try Self.seconds(validFor) }
        for threshold in self.thresholds {
            guard let count = Int(threshold.value), count > 0 else {
                throw CommandFailure(
                    .usage, "--threshold \(threshold.kind.rawValue)=\(threshold.value): no number from 1")
            }
            guard !change.thresholds.contains(where: { $0.kind == threshold.kind }) else {
                throw CommandFailure(.usage, "--threshold \(threshold.kind.rawValue) is there twice")
            }
            change.thresholds.append((threshold.kind, count))
        }
        return change
    }

    private static func seconds(_ text: String) throws(CommandFailure) -> Int64 {
        guard let seconds = SourceDuration.seconds(of: text) else {
            throw CommandFailure(.usage, "--valid-for \(text): no duration", hint: SourceDuration.form)
        }
        return seconds
    }
}
