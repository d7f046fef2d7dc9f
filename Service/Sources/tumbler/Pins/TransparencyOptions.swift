// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CertificateTransparency
import CommandLineInterface
import PinListMetadata

/// `--logs FILE --transparency POLICY`: what a path must satisfy beside the pins.
struct TransparencyOptions: ParsableArguments {
    /// The names of all policies, for people.
    static let names = TransparencyPolicy.all.map(\.name).joined(separator: "|")

    @Option(
        help: ArgumentHelp("The log list, JSON in version 3 of its format.", valueName: "file"), completion: .file())
    var logs: String?

    @Option(
        help: ArgumentHelp(
            "Refuse a certificate that was not logged as this policy asks; needs --logs.", valueName: Self.names),
        completion: .list(TransparencyPolicy.all.map(\.name)),
        transform: TransparencyOptions.policy)
    var transparency: TransparencyPolicy?

    func validate() throws {
        if self.logs == nil, self.transparency != nil { throw ValidationError("--transparency needs --logs") }
    }

    /// The policy of a name.
    static func policy(_ name: String) throws -> TransparencyPolicy {
        guard let policy = TransparencyPolicy(named: name) else {
            throw ValidationError("\(name) is not a policy; there are \(self.names)")
        }
        return policy
    }

    /// The demand that a path must satisfy; `nil` for none.
    ///
    /// - Throws: ``CommandError`` when the log list cannot be read.
    func demand(at time: Timestamp) throws(CommandError) -> TransparencyDemand? {
        guard let logs else { return nil }
        let file = try LogListFile.read(logs)
        LogListFile.notes(on: file.list, named: logs, at: time)
        return TransparencyDemand(policy: self.transparency, logs: file)
    }
}

/// The logs that policies are evaluated with, and the policy that is asked beside the pins; `nil` for none but those of the
/// list's own entries.
struct TransparencyDemand: Sendable {
    let policy: TransparencyPolicy?
    let logs: LogListFile

    /// A decision with what the list's entry asks for, and then with the policy that was asked for by name.
    func evaluated(_ decision: PinningDecision, at time: Timestamp) -> PinningDecision {
        let path = decision.path
        // Verified once, for one policy or two, and not at all for a path that is refused otherwise.
        var known: TransparencyEvidence?
        func evaluation(_ policy: TransparencyPolicy) -> TransparencyEvaluation {
            let evidence = known ?? TransparencyEvidence(of: path, logs: self.logs.list)
            known = evidence
            return evidence.evaluation(under: policy, at: time)
        }
        let evaluated = decision.evaluated { evaluation(TransparencyPolicy($0)) }
        guard let policy, evaluated.reason != .transparency else { return evaluated }
        return evaluated.requiring(evaluation(policy))
    }

    /// Expects the log list that a signed list names, where it names one.
    ///
    /// - Throws: ``InputError`` when it names another one.
    func expect(_ listed: ListedLogs?) throws(InputError) {
        guard let listed, listed != self.logs.listed else { return }
        throw InputError(
            .policy, "the list names another log list than \(self.logs.path): that with the SHA-256 \(listed.digest)")
    }
}
