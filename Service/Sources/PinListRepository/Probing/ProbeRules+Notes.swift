// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// Notes for people beside the verdict.
extension ProbeRules {
    /// Notes on the entry itself: a mode, a rollout or an end by which fewer are locked out than one may think.
    func standing(of entry: PinnedDomain?) -> [String] {
        guard let entry else { return ["no entry of the list covers this host"] }
        var notes: [String] = []
        switch entry.mode {
        case .enforce: break
        case .report: notes.append("mode report: a mismatch is reported and blocks no connection")
        case .off: notes.append("mode off: the platform alone decides")
        }
        if let rollout = self.rollouts[entry.domain], entry.mode == .enforce {
            notes.append("rollout: \(rollout) % of the installations enforce")
        }
        if let end = entry.expiresAt { notes.append("the entry \(end <= self.reference ? "ended" : "ends") \(end)") }
        return notes
    }

    /// Notes on the pins: whether there is a backup, and whether more than one of them was ever seen.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - path: The path that is served now.
    ///   - present: The pins of the entry that are in it.
    ///   - elsewhere: The pins of the entry that other addresses of the host serve now.
    ///   - ever: The pins of the entry that were seen in any path so far.
    static func pins(
        of entry: PinnedDomain?, path: [ProbedCertificate], present: Set<String>, elsewhere: Set<String>,
        ever: Set<String>
    ) -> [String] {
        guard let entry, entry.mode != .off, !path.isEmpty else { return [] }
        let pins = Set(entry.pins.map(\.pin.description))
        if present.isEmpty {
            return entry.mode == .report ? ["no pin matches: with mode enforce this host would be refused"] : []
        }
        let backups = pins.subtracting(present).subtracting(elsewhere).count
        guard backups > 0 else {
            return [
                pins.count == 1
                    ? "no backup: the entry has one pin"
                    : "no backup: every pin of the entry is in a path that is served now"
            ]
        }
        let seen = pins.intersection(ever.union(elsewhere)).count
        return seen == 1 ? ["1 of \(pins.count) pins was ever seen here; backup: \(backups) that no server shows"] : []
    }
}
