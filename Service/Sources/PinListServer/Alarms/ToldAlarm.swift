// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis

/// One alarm of a message, as notifications name it.
struct ToldAlarm: Hashable, Sendable {
    /// The alarm's key.
    let key: String
    /// The subject of the alarm: a host or the name of a list.
    let subject: String
    /// The severity of the alarm.
    let severity: String
    /// The problem, in a sentence without a full stop.
    let detail: String
    /// The time since which it fires, in the form of RFC 3339.
    let since: String
    /// The id of the token of the person who acknowledged it; `nil` while it is not acknowledged.
    let acknowledgedBy: String?

    init(_ alarm: StoredAlarm) {
        self.key = alarm.key
        self.subject = Alarm.subject(of: alarm.key)
        self.severity = alarm.severity
        self.detail = alarm.detail
        self.since = alarm.since.description
        self.acknowledgedBy = alarm.acknowledgement?.by
    }

    /// Reads what ``json(_:)`` writes; `nil` for anything else.
    init?(_ value: JSONValue) {
        guard case .object(let members) = value else { return nil }
        func text(_ name: String) -> String? {
            guard case .string(let text)? = members.first(where: { $0.name == name })?.value else { return nil }
            return text
        }
        guard let key = text("key"), let subject = text("subject"), let severity = text("severity"),
            let detail = text("detail"), let since = text("since")
        else { return nil }
        self.key = key
        self.subject = subject
        self.severity = severity
        self.detail = detail
        self.since = since
        self.acknowledgedBy = text("acknowledgedBy")
    }

    /// The alarm as JSON.
    ///
    /// - Parameter kind: The kind of the message's alarms.
    func json(_ kind: String) -> JSONValue {
        .object(
            [
                .init("key", .string(self.key)), .init("subject", .string(self.subject)),
                .init("severity", .string(self.severity)), .init("detail", .string(self.detail)),
            ] + (AlarmRunbook.action(kind, self.detail).map { [.init("action", .string($0))] } ?? []) + [
                .init("since", .string(self.since))
            ] + (self.acknowledgedBy.map { [.init("acknowledgedBy", .string($0))] } ?? []))
    }
}
