// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis

/// A test of a target: that people are told at all.
enum AlarmTest {
    /// The action in the audit log, by which tests are counted: over all instances, because they share the log.
    static let action = "alert-test"
    /// The maximum number of tests of one token within ``period``: a token of scope read cannot flood the people on
    /// call.
    static let maximum = 3
    /// The time that tests are counted over, in seconds: an hour.
    static let period: Int64 = 3_600

    /// Has a target told that this is a test, and a pager that it is over.
    ///
    /// - Parameter actor: The id of the token.
    /// - Returns: `nil` when it is on its way; else after how many seconds the token may ring the next test.
    static func ring(
        _ target: AlertTarget, in store: StoreTransaction, by actor: String, at now: Timestamp
    ) throws -> Int64? {
        let rung = try store.auditEntries(of: [Self.action], since: now.before(Self.period)).filter {
            // One that a wrong clock dated ahead is none of this hour.
            $0.actor == actor && $0.time > now.before(Self.period) && $0.time < now.before(-Self.period)
        }
        if rung.count >= Self.maximum, let oldest = rung.map(\.time).min() {
            return min(Self.period, max(1, oldest.secondsSince1970 + Self.period - now.secondsSince1970))
        }
        try store.log(Self.action, target.name, by: actor, at: now)
        let head = try store.newestAuditEntry()?.digest ?? AuditEntry.origin
        let event = AlarmEvent(
            .test, key: "test:\(target.name)", kind: Alarm.Kind.test.rawValue,
            severity: Alarm.Severity.notice.rawValue, detail: "this is a test of \(target.name); nothing is wrong",
            since: now, time: now, auditHead: head)
        try store.notify(target.name, event.json.bytes, at: now)
        // A pager opens an incident, which a person would have to close by hand.
        guard target.kind == .pagerduty else { return nil }
        let end = AlarmEvent(
            .recovered, key: event.key, kind: event.kind, severity: event.severity, detail: event.detail, since: now,
            time: now, auditHead: head)
        try store.notify(target.name, end.json.bytes, at: now)
        return nil
    }
}
