// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CertificateTransparency
import CommandLineInterface

/// `--logs FILE --transparency POLICY`: what a path must satisfy beside the pins.
struct TransparencyOptions: ParsableArguments {
    /// The names of all policies, for people.
    static let names = TransparencyPolicy.all.map(\.name).joined(separator: "|")

    @Option(help: ArgumentHelp("The logs that are known, JSON in version 3 of its format.", valueName: "file"))
    var logs: String?

    @Option(
        help: ArgumentHelp(
            "Refuse a certificate that was not logged as this policy asks; needs --logs.", valueName: Self.names),
        transform: TransparencyOptions.policy)
    var transparency: TransparencyPolicy?

    func validate() throws {
        if (self.logs == nil) != (self.transparency == nil) {
            throw ValidationError("--logs and --transparency go together")
        }
    }

    /// The policy of a name.
    static func policy(_ name: String) throws -> TransparencyPolicy {
        guard let policy = TransparencyPolicy(named: name) else {
            throw ValidationError("\(name) is no policy; there are \(self.names)")
        }
        return policy
    }

    /// What a path must satisfy; `nil` for nothing.
    ///
    /// - Throws: ``CommandFailure`` when the log list cannot be read.
    func demand(at time: Timestamp) throws(CommandFailure) -> TransparencyDemand? {
        guard let logs, let transparency else { return nil }
        let list = try LogListFile.read(logs)
        LogListFile.notes(on: list, named: logs, at: time)
        return TransparencyDemand(policy: transparency, logs: list)
    }
}

/// A policy, and the logs that it is judged with.
struct TransparencyDemand: Sendable {
    let policy: TransparencyPolicy
    let logs: LogList

    /// What the policy makes of a path.
    func judgement(of path: ValidatedPath, at time: Timestamp) -> TransparencyJudgement {
        TransparencyEvidence(of: path, logs: self.logs).judgement(under: self.policy, at: time)
    }
}
