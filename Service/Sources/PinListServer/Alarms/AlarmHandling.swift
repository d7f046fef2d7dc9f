// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import HTTPTypes
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis

/// The actions of a person on alarms: acknowledging and silencing. Each is an entry of the audit log, of which a token
/// makes a thousand of a kind in a day (``AuditQuota``).
enum AlarmHandling {
    /// The action in the audit log of an acknowledgement.
    static let acknowledgedAction = "alarm-acknowledged"
    /// The audit action of a silence.
    static let silencedAction = "alarm-silenced"
    /// The audit action of a silence that a person ended.
    static let unsilencedAction = "alarm-unsilenced"
    /// The maximum silence, in seconds: 7 days. What needs longer is mended, or is no alarm.
    static let maximumSilence: Int64 = 604_800
    /// The minimum silence, in seconds: a minute, four looks of the service.
    static let minimumSilence: Int64 = 60
    /// The maximum number of characters of the reason for a silence: a line of the page of alarms.
    static let maximumReasonLength = 256

    /// Acknowledges an alarm. When it is the last one of its message, those who were told of that are told: a pager
    /// stops calling others.
    ///
    /// - Parameter actor: The id of the token.
    /// - Returns: Whether the alarm fires.
    /// - Throws: ``Problem``: 429 for a token that made too many entries; what the store says.
    static func acknowledge(_ key: String, in store: StoreTransaction, by actor: String, at now: Timestamp) throws
        -> Bool
    {
        try AuditQuota.expectRoom(for: Self.acknowledgedAction, by: actor, in: store, at: now)
        let seen = try store.acknowledgedMessages(at: now)
        // PostgreSQL takes no zero in a text, and no alarm has one.
        guard !key.utf8.contains(0), let alarm = try store.firingAlarms().first(where: { $0.key == key }),
            try store.putAcknowledgement(.init(at: now, by: actor), of: key)
        else { return false }
        try store.log(Self.acknowledgedAction, key, by: actor, at: now)
        if let (name, identity) = AlarmRules.sighting(of: key) {
            // Known to a person, it is no alarm any more.
            try store.acknowledgeSighting(
                of: name, identity: identity, .init(at: now, by: actor, severity: alarm.severity))
        }
        try Self.tell(besides: seen, in: store, at: now)
        return true
    }

    /// Has the targets told of the messages that a person has seen since an earlier look. What a silence alone keeps quiet
    /// of them leaves them: a pager would not call for it when the silence ends.
    ///
    /// - Parameter seen: The messages that were acknowledged at that look.
    /// - Returns: The events that were put into the queue, one for each message.
    @discardableResult
    static func tell(besides seen: Set<Int64>, in store: StoreTransaction, at now: Timestamp) throws -> [AlarmEvent] {
        let new = try store.acknowledgedMessages(at: now).subtracting(seen)
        guard !new.isEmpty else { return [] }
        let (firing, targets) = (try store.firingAlarms(), try store.knownTargets(at: now))
        let head = try store.newestAuditEntry()?.digest ?? AuditEntry.origin
        return try store.alarmMessages().filter { new.contains($0.number) }.map { message in
            let alarms = firing.filter { $0.message == message.number }
            let event = AlarmEvent(
                .acknowledged, of: message, severity: .known(message.severity), alarms, time: now, auditHead: head)
            for target in targets { try store.notify(target, event.json.bytes, at: now) }
            for alarm in alarms where alarm.acknowledgement == nil { try store.join(alarm.key, to: nil) }
            return event
        }
    }

    /// Silences an alarm that fires, or a kind of alarms. When all others of its message are acknowledged, that is told.
    ///
    /// - Parameters:
    ///   - what: The key of the alarm, or the kind.
    ///   - seconds: The duration, ``minimumSilence`` to ``maximumSilence``.
    ///   - reason: The reason, in a line.
    ///   - severity: The most urgent that is silenced; `nil` for as urgent as it is now, or a warning where none fires.
    ///   - actor: The id of the token.
    /// - Returns: The silence; `nil` when it is no kind, and no alarm of that key fires.
    /// - Throws: ``Problem``: 400 for what no silence covers, 429 for a token that made too many entries; what the store says.
    static func silence(
        _ what: String, for seconds: Int64, because reason: String, upTo severity: Alarm.Severity?,
        in store: StoreTransaction, by actor: String, at now: Timestamp
    ) throws -> StoredSilence? {
        guard what != Alarm.Kind.storeFailed.rawValue else {
            throw Problem(
                .badRequest, "malformed",
                "store-failed is told from memory, and no silence covers it; silence it at the target, or mend the database"
            )
        }
        try AuditQuota.expectRoom(for: Self.silencedAction, by: actor, in: store, at: now)
        let seen = try store.acknowledgedMessages(at: now)
        let isKind = Alarm.Kind(rawValue: what) != nil
        let firing = try store.firingAlarms().filter { $0.key == what || (isKind && $0.kind == what) }
        guard isKind || !firing.isEmpty else { return nil }
        let length = min(max(seconds, Self.minimumSilence), Self.maximumSilence)
        let silence = StoredSilence(
            what: what,
            severity: severity ?? firing.compactMap { Alarm.Severity(rawValue: $0.severity) }.max() ?? .warning,
            endsAt: now.before(-length), madeAt: now, madeBy: actor, reason: reason)
        try store.put(silence)
        try store.log(
            Self.silencedAction, "\(what) until \(silence.endsAt), up to \(silence.severity.rawValue): \(reason)",
            by: actor,
            at: now)
        try Self.tell(besides: seen, in: store, at: now)
        return silence
    }

    /// Ends a silence before its time.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: ``Problem``: 429 for a token that made too many entries; what the store says.
    static func unsilence(_ what: String, in store: StoreTransaction, by actor: String, at now: Timestamp) throws
        -> Bool
    {
        try AuditQuota.expectRoom(for: Self.unsilencedAction, by: actor, in: store, at: now)
        guard !what.utf8.contains(0), try store.removeSilence(what, at: now) else { return false }
        try store.log(Self.unsilencedAction, what, by: actor, at: now)
        return true
    }
}

extension StoreTransaction {
    /// The numbers of the messages that a person has seen: an alarm of it that fires is acknowledged, silenced or not, and
    /// every other one is acknowledged or silenced.
    func acknowledgedMessages(at now: Timestamp) throws -> Set<Int64> {
        let (firing, silences) = (try self.firingAlarms(), try self.silences(at: now))
        let open = firing.filter { $0.acknowledgement == nil && silences.covering($0) == nil }
        return Set(firing.filter { $0.acknowledgement != nil }.compactMap(\.message))
            .subtracting(open.compactMap(\.message))
    }
}
