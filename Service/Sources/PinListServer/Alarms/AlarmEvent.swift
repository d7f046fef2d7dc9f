// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// What became of an alarm: what a notification tells.
struct AlarmEvent: Hashable, Sendable {
    /// What became of it.
    enum Phase: String, Hashable, Sendable {
        /// It began, or became more or less urgent.
        case firing
        /// It ended.
        case recovered
        /// It is none: the operator tests a target.
        case test
    }

    let phase: Phase
    let key: String
    let kind: String
    let severity: String
    let detail: String
    let since: Timestamp
    /// When this was noticed.
    let time: Timestamp
    /// The newest digest of the audit log: kept in a chat or a pager it shows a log that was rewritten.
    let auditHead: String

    /// As it is stored, and as generic webhooks get it.
    var json: JSONValue {
        .object([
            .init("event", .string(self.phase.rawValue)), .init("key", .string(self.key)),
            .init("kind", .string(self.kind)), .init("severity", .string(self.severity)),
            .init("detail", .string(self.detail)), .init("since", .string(self.since.description)),
            .init("time", .string(self.time.description)), .init("auditHead", .string(self.auditHead)),
        ])
    }

    init(
        _ phase: Phase, key: String, kind: String, severity: String, detail: String, since: Timestamp, time: Timestamp,
        auditHead: String
    ) {
        self.phase = phase
        self.key = key
        self.kind = kind
        self.severity = severity
        self.detail = detail
        self.since = since
        self.time = time
        self.auditHead = auditHead
    }

    /// Reads what was stored; `nil` for what a later version wrote.
    init?(_ bytes: [UInt8]) {
        guard case .object(let members)? = try? JSONValue(strict: bytes) else { return nil }
        let texts = Dictionary(
            members.compactMap { member -> (String, String)? in
                guard case .string(let text) = member.value else { return nil }
                return (member.name, text)
            }
        ) { first, _ in first }
        guard let phase = texts["event"].flatMap(Phase.init), let key = texts["key"], let kind = texts["kind"],
            let severity = texts["severity"], let detail = texts["detail"],
            let since = texts["since"].flatMap({ try? Timestamp($0) }),
            let time = texts["time"].flatMap({ try? Timestamp($0) }), let head = texts["auditHead"]
        else { return nil }
        self.init(
            phase, key: key, kind: kind, severity: severity, detail: detail, since: since, time: time, auditHead: head)
    }
}
