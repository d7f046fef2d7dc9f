// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import PinListClient
import PinListMetadata

/// The report that `refresh` prints: formats.md, section 8.
struct RefreshReport: Encodable {
    struct Root: Encodable { let version: Int64 }

    struct List: Encodable {
        let name: String
        let version: Int64
        let source: String
        let status: String
        let stale: Bool
    }

    struct Refused: Encodable {
        let what: String
        let code: String
        let of: String?
        let detail: String
    }

    let root: Root
    let list: List?
    let refused: [Refused]
    let events: [String]

    private let outcome: RefreshOutcome
    private let hasDiskFailed: Bool

    private enum CodingKeys: CodingKey { case root, list, refused, events }

    init(_ status: PinningStatus, _ outcome: RefreshOutcome, _ events: [PinningEvent]) {
        // The command is given one, so there is.
        self.root = Root(version: status.rootVersion ?? 0)
        self.list = status.list.map { list in
            List(
                name: list.name, version: list.version, source: list.source.rawValue, status: list.status.rawValue,
                stale: list.isStale)
        }
        self.refused = outcome.refused.map { refusal in
            Refused(
                what: refusal.kind.rawValue, code: refusal.code.description, of: refusal.expired?.rawValue,
                detail: refusal.detail)
        }
        self.events = events.map(\.kind.description)
        self.outcome = outcome
        self.hasDiskFailed = events.contains { $0.kind == .storeFailed || $0.kind == .stateUnreadable }
    }

    /// `list` is there in any case, as `null` where there is none.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.root, forKey: .root)
        try container.encode(self.list, forKey: .list)
        try container.encode(self.refused, forKey: .refused)
        try container.encode(self.events, forKey: .events)
    }

    /// The exit code of the command.
    var exit: CommandExit {
        if !self.refused.isEmpty { return .doesNotHold }
        return self.outcome.fetchFailure != nil || self.hasDiskFailed ? .undecided : .holds
    }

    /// For people.
    var lines: [String] {
        guard let list else { return ["root \(self.root.version), no list"] }
        let stale = list.stale ? ", expired" : ""
        return [
            "\(list.name) version \(list.version) (\(list.source), \(list.status)\(stale)), root \(self.root.version)"
        ]
    }

    /// The meaning of a list that has expired.
    static func staleness(name: String, version: Int64) -> String {
        "version \(version) of \(name) has expired: clients still enforce it, until they get a newer one"
    }

    /// The warning beside a refresh in which nothing was refused: the list in force has expired.
    var warning: String? {
        guard let list, list.stale else { return nil }
        return Self.staleness(name: list.name, version: list.version)
    }

    /// Notes for standard error: a log list that is missing refuses nothing.
    var notes: [String] {
        self.outcome.logsFailure.map { ["the log list was not fetched: \($0)"] } ?? []
    }

    /// The errors, for standard error.
    var complaints: [String] {
        var lines = self.outcome.refused.map { refusal in
            let attack = refusal.code.suspectedAttack.map { "; this may be an attack: \($0)" } ?? ""
            return "\(refusal)\(attack)"
        }
        if let failure = self.outcome.fetchFailure { lines.append("not refreshed: \(failure)") }
        if let failure = self.outcome.storeFailure { lines.append("not stored: \(failure)") }
        return lines
    }
}
