// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// What a person does about alarms: acknowledging and silencing. Each is an entry of the audit log.
enum AlarmHandling {
    /// The longest silence, in seconds: 7 days. What needs longer is mended, or is no alarm.
    static let longestSilence: Int64 = 604_800
    /// The shortest silence, in seconds: a minute, four looks of the service.
    static let shortestSilence: Int64 = 60
    /// The most characters of the reason for a silence.
    static let longestReason = 256

    /// Notes that a person has seen an alarm.
    ///
    /// - Parameter actor: The id of the token.
    /// - Returns: Whether the alarm fires.
    static func acknowledge(_ key: String, in store: StoreTransaction, by actor: String, at now: Timestamp) throws
        -> Bool
    {
        // PostgreSQL takes no zero in a text, and no alarm has one.
        guard !key.utf8.contains(0), try store.putAcknowledgement(.init(at: now, by: actor), of: key) else {
            return false
        }
        try store.log("alarm-acknowledged", key, by: actor, at: now)
        return true
    }

    /// Silences an alarm that fires, or a kind of alarms.
    ///
    /// - Parameters:
    ///   - what: The key of the alarm, or the kind.
    ///   - seconds: For how long, ``shortestSilence`` to ``longestSilence``.
    ///   - reason: Why, in a line.
    ///   - severity: The most urgent that is silenced; `nil` for as urgent as it is now, or a warning where none fires.
    ///   - actor: The id of the token.
    /// - Returns: The silence; `nil` when it is no kind, and no alarm of that key fires.
    static func silence(
        _ what: String, for seconds: Int64, because reason: String, upTo severity: Alarm.Severity?,
        in store: StoreTransaction, by actor: String, at now: Timestamp
    ) throws -> StoredSilence? {
        let isKind = Alarm.Kind(rawValue: what) != nil
        let firing = try store.firingAlarms().filter { $0.key == what || (isKind && $0.kind == what) }
        guard isKind || !firing.isEmpty else { return nil }
        let length = min(max(seconds, Self.shortestSilence), Self.longestSilence)
        let silence = StoredSilence(
            what: what,
            severity: severity ?? firing.compactMap { Alarm.Severity(rawValue: $0.severity) }.max() ?? .warning,
            endsAt: now.before(-length), madeAt: now, madeBy: actor, reason: reason)
        try store.put(silence)
        try store.log(
            "alarm-silenced", "\(what) until \(silence.endsAt), up to \(silence.severity.rawValue): \(reason)",
            by: actor,
            at: now)
        return silence
    }

    /// Ends a silence before its time.
    ///
    /// - Returns: Whether there was one.
    static func unsilence(_ what: String, in store: StoreTransaction, by actor: String, at now: Timestamp) throws
        -> Bool
    {
        guard !what.utf8.contains(0), try store.removeSilence(what, at: now) else { return false }
        try store.log("alarm-unsilenced", what, by: actor, at: now)
        return true
    }
}
