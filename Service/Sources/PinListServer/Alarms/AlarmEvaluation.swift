// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// Compares the alarms that fire with those that fired, and has people told of what changed. One transaction: where
/// several instances look, one of them finds the change.
struct AlarmEvaluation: Sendable {
    /// Who is told.
    let targets: [AlertTarget]

    /// What changed.
    ///
    /// - Returns: The events that were put into the queue, one for each change.
    @discardableResult
    func apply(_ alarms: [Alarm], in store: StoreTransaction, auditHead: String, at now: Timestamp) throws
        -> [AlarmEvent]
    {
        let firing = Dictionary(try store.firingAlarms().map { ($0.key, $0) }) { first, _ in first }
        var events: [AlarmEvent] = []
        // The most urgent of one key.
        let wanted = Dictionary(alarms.map { ($0.key, $0) }) { $0.severity < $1.severity ? $1 : $0 }
        for alarm in wanted.values.sorted(by: { $0.key < $1.key }) {
            let known = firing[alarm.key]
            let since = known?.since ?? now
            try store.put(alarm, since: since)
            // A number in the text that moves is no news; that it became urgent is.
            guard known?.severity != alarm.severity.rawValue else { continue }
            events.append(
                AlarmEvent(
                    .firing, key: alarm.key, kind: alarm.kind.rawValue, severity: alarm.severity.rawValue,
                    detail: alarm.detail, since: since, time: now, auditHead: auditHead))
        }
        for alarm in firing.values.sorted(by: { $0.key < $1.key }) where wanted[alarm.key] == nil {
            try store.endAlarm(alarm.key, at: now)
            events.append(
                AlarmEvent(
                    .recovered, key: alarm.key, kind: alarm.kind, severity: alarm.severity, detail: alarm.detail,
                    since: alarm.since, time: now, auditHead: auditHead))
        }
        for event in events {
            for target in self.targets {
                // An older message that did not get through would arrive after this one, and say what is no longer so.
                try store.withdrawNotifications(to: target.name) { AlarmEvent($0)?.key == event.key }
                try store.notify(target.name, event.json.bytes, at: now)
            }
        }
        return events
    }

    /// Has a target told that this is a test, and a pager that it is over.
    static func test(_ target: AlertTarget, in store: StoreTransaction, by actor: String, at now: Timestamp) throws {
        try store.log("alert-test", target.name, by: actor, at: now)
        let head = try store.newestAuditEntry()?.digest ?? AuditEntry.origin
        let event = AlarmEvent(
            .test, key: "test:\(target.name)", kind: Alarm.Kind.test.rawValue,
            severity: Alarm.Severity.notice.rawValue, detail: "this is a test of \(target.name); nothing is wrong",
            since: now, time: now, auditHead: head)
        try store.notify(target.name, event.json.bytes, at: now)
        // A pager opens an incident, which somebody would have to close by hand.
        guard target.kind == .pagerduty else { return }
        let end = AlarmEvent(
            .recovered, key: event.key, kind: event.kind, severity: event.severity, detail: event.detail, since: now,
            time: now, auditHead: head)
        try store.notify(target.name, end.json.bytes, at: now)
    }
}
