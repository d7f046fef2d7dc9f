// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis

/// The change of the alarms in a notification: raised, repeated, over and so on (docs/operations/alarms.md).
struct AlarmEvent: Hashable, Sendable {
    /// The change.
    enum Phase: String, Hashable, Sendable {
        /// They began, became more or less urgent, or others joined them or ended.
        case firing
        /// A person has seen them, all that fire and are not silenced.
        case acknowledged
        /// They ended, all of them.
        case recovered
        /// No alarm: the operator tests a target.
        case test
    }

    let phase: Phase
    /// The key of the message: that of its first alarm. The same as long as the message lasts, so that a pager closes
    /// what it opened.
    let key: String
    /// The kind of all its alarms.
    let kind: String
    /// The most urgent one's.
    let severity: String
    /// The problem, in a sentence without a full stop.
    let detail: String
    /// The time since which the oldest of them lasts.
    let since: Timestamp
    /// The time at which this was noticed.
    let time: Timestamp
    /// The newest digest of the audit log: kept in a chat or a pager it shows a log that was rewritten.
    let auditHead: String
    /// The most urgent of its alarms, ``maximumAlarms`` at most; none in a test, and in what an earlier version stored.
    let alarms: [ToldAlarm]
    /// The number of its alarms.
    let count: Int

    /// The maximum number of alarms that a notification names: a message is read on a phone, and the dashboard has the
    /// rest.
    static let maximumAlarms = 10

    /// The one action, that of the first alarm; `nil` for a test, and where a later version knows the kind.
    var action: String? {
        guard self.phase != .test else { return nil }
        return AlarmRunbook.action(self.kind, self.alarms.first?.detail ?? self.detail)
    }

    /// The path of the dashboard's page about the kind; `nil` where ``action`` is.
    var runbook: String? {
        self.action.flatMap { _ in Alarm.Kind(rawValue: self.kind).map { AlarmRunbook.path($0) } }
    }

    /// The JSON that is stored, and that generic webhooks get.
    var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("event", .string(self.phase.rawValue)), .init("key", .string(self.key)),
            .init("kind", .string(self.kind)), .init("severity", .string(self.severity)),
            .init("detail", .string(self.detail)),
        ]
        if let action = self.action { members.append(.init("action", .string(action))) }
        if let runbook = self.runbook { members.append(.init("runbook", .string(runbook))) }
        members += [
            .init("since", .string(self.since.description)),
            .init("time", .string(self.time.description)), .init("auditHead", .string(self.auditHead)),
        ]
        if self.count > 0 {
            members += [
                .init("count", .integer(Int64(self.count))),
                .init("alarms", .array(self.alarms.map { $0.json(self.kind) })),
            ]
        }
        return .object(members)
    }

    init(
        _ phase: Phase, key: String, kind: String, severity: String, detail: String, since: Timestamp, time: Timestamp,
        auditHead: String, alarms: [ToldAlarm] = [], count: Int = 0
    ) {
        self.phase = phase
        self.key = key
        self.kind = kind
        self.severity = severity
        self.detail = detail
        self.since = since
        self.time = time
        self.auditHead = auditHead
        self.alarms = alarms
        self.count = count
    }

    /// Tells of the alarms of a message.
    init(
        _ phase: Phase, of message: StoredAlarmMessage, severity: Alarm.Severity, _ alarms: [StoredAlarm],
        time: Timestamp, auditHead: String
    ) {
        let sorted = alarms.sorted { left, right in
            let (first, second) = (Alarm.Severity.known(left.severity), Alarm.Severity.known(right.severity))
            return first == second ? left.key < right.key : first > second
        }
        let told = sorted.prefix(Self.maximumAlarms).map(ToldAlarm.init)
        let more = sorted.count > told.count ? " and \(sorted.count - told.count) more" : ""
        let detail =
            switch sorted.count {
            // What a person had seen became more urgent, and left it.
            case 0: "no alarm of \(message.kind) is left in this message; one that fires is told in another"
            case 1: sorted[0].detail
            default:
                "\(sorted.count) alarms of \(message.kind): \(told.map(\.subject).joined(separator: ", "))\(more)"
            }
        self.init(
            phase, key: message.key, kind: message.kind, severity: severity.rawValue, detail: detail,
            since: sorted.map(\.since).min() ?? message.begunAt, time: time, auditHead: auditHead, alarms: told,
            count: sorted.count)
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
        var (alarms, count): ([ToldAlarm], Int) = ([], 0)
        if case .array(let values)? = members.first(where: { $0.name == "alarms" })?.value {
            alarms = values.compactMap(ToldAlarm.init)
            guard alarms.count == values.count,
                case .integer(let number)? = members.first(where: { $0.name == "count" })?.value,
                let whole = Int(exactly: number), whole >= alarms.count
            else { return nil }
            count = whole
        }
        self.init(
            phase, key: key, kind: kind, severity: severity, detail: detail, since: since, time: time, auditHead: head,
            alarms: alarms, count: count)
    }
}
