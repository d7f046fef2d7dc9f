// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import PinListMetadata
import PinListRepository

/// The options that `root new` and `root rotate` share: hybrid demands, thresholds and times.
struct RootTermsOptions: ParsableArguments {
    @Option(
        name: .customLong("threshold"),
        help: ArgumentHelp("The number of keys of a role that must sign: root=2, pins=1.", valueName: "role=n"))
    var thresholds: [RoleOption] = []

    @Option(
        help: ArgumentHelp(
            "The hybrid demand of a role gets a key: pins=quantum.pub. Several times. Clients that can verify all of its "
                + "keys demand it as well.", valueName: "role=pub"))
    var hybrid: [RoleOption] = []

    @Option(
        name: .customLong("hybrid-threshold"),
        help: ArgumentHelp(
            "The number of keys of a role's hybrid demand that must sign: pins=1 (the default).",
            valueName: "role=n"))
    var hybridThresholds: [RoleOption] = []

    @Option(help: ArgumentHelp("The validity of the root: 90s, 5m, 12h, 1095d.", valueName: "duration"))
    var validFor: String?

    @OptionGroup var time: TimeOption

    /// The change so far: hybrid demands, times and thresholds.
    ///
    /// - Throws: ``CommandError`` for a number or a duration that is none, and for a key that does not sign metadata.
    func change() async throws(CommandError) -> RootChange {
        var change = RootChange(issuedAt: self.time.time)
        if let validFor { change.validity = try Self.seconds(validFor) }
        change.thresholds = try Self.counts(self.thresholds, of: "--threshold")
        change.hybridThresholds = try Self.counts(self.hybridThresholds, of: "--hybrid-threshold")
        for added in self.hybrid {
            change.hybridAdded.append((added.kind, try await PublicKeyArgument.metadataKey(added.value)))
        }
        return change
    }

    /// The numbers of an option, at most one for each role.
    private static func counts(
        _ options: [RoleOption], of name: String
    ) throws(CommandError) -> [(kind: MetadataRole, count: Int)] {
        var counts: [(kind: MetadataRole, count: Int)] = []
        for option in options {
            guard let count = Int(option.value), count > 0 else {
                throw CommandError(.usage, "\(name) \(option.kind.rawValue)=\(option.value): no number from 1")
            }
            guard !counts.contains(where: { $0.kind == option.kind }) else {
                throw CommandError(.usage, "\(name) \(option.kind.rawValue) is there twice")
            }
            counts.append((option.kind, count))
        }
        return counts
    }

    private static func seconds(_ text: String) throws(CommandError) -> Int64 {
        guard let seconds = SourceDuration.seconds(of: text) else {
            throw CommandError(.usage, "--valid-for \(text): no duration", hint: SourceDuration.form)
        }
        return seconds
    }
}
