// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
internal import PinListMetadata
internal import PinRotation

/// Evaluates what hosts serve under the lists that installations may still hold: each is evaluated as the gate evaluates it.
public struct HeldRules: Sendable {
    /// The lists.
    public let held: HeldLists

    private let rules: [ListRules]

    /// Prepares lists.
    ///
    /// - Parameters:
    ///   - held: The lists.
    ///   - time: Now.
    /// - Throws: ``RepositoryError`` for a list that no rules can be made of.
    public init(_ held: HeldLists, at time: Timestamp) throws(RepositoryError) {
        self.held = held
        var rules: [ListRules] = []
        for list in held.lists.map(\.list) {
            // A log list that is not at hand decides nothing here, and commands warn of it: `versionsWithoutLogs`.
            var logs = held.logs.logs(of: list)
            if case .missing = logs { logs = .notAsked }
            do throws(InputError) { rules.append(try ListRules(list, logs: logs, at: time)) } catch {
                throw RepositoryError(.metadata, "no rules can be made of version \(list.version): \(error)")
            }
        }
        self.rules = rules
    }

    /// The hosts of entries that enforce in any of the lists.
    var hosts: [HostName] {
        var seen: Set<HostName> = []
        return self.held.lists.flatMap(\.list.domains).filter { $0.entry.mode == .enforce }.map(\.entry.domain)
            .filter { seen.insert($0).inserted }
    }

    /// The lists that refuse what a host serves; `nil` when none does, or the host could not be asked.
    public func refusal(of host: HostName, _ observation: ProbeObservation) -> HeldRefusal? {
        guard let material = observation.material else { return nil }
        return self.held.refusal(
            self.rules.map { Double($0.conclusion(on: material, for: host).percent) / 100 })
    }
}
