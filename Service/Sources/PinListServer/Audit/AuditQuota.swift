// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import HTTPTypes
internal import PinListStore

/// The number of entries that one token may add to the audit log in a day: the log is only appended to, and a leaked
/// token must not make it grow without end (formats.md, section 7).
enum AuditQuota {
    /// The maximum number of entries of one action that a token adds in a day (UTC): a deployment a minute for most of
    /// it.
    static let maximumPerDay = 1_000

    private static let daySeconds: Int64 = 86_400

    /// Expects that a token may add another entry.
    ///
    /// - Parameters:
    ///   - action: The action of the entry.
    ///   - actor: The name of the token in the log.
    ///   - store: The transaction that adds it.
    ///   - now: The time.
    /// - Throws: ``Problem``: 429 until the next day begins, and what the store says.
    static func expectRoom(
        for action: String, by actor: String, in store: StoreTransaction, at now: Timestamp
    ) throws {
        guard try !Self.hasRoom(for: action, by: actor, in: store, at: now) else { return }
        let passed = Self.secondsOfDay(now)
        throw Problem(
            .tooManyRequests, "too-many",
            "this token has made \(Self.maximumPerDay) entries \"\(action)\" of the audit log today; use another token, or "
                + "wait until the day ends (UTC)", headers: [.retryAfter: "\(Self.daySeconds - passed)"])
    }

    /// Whether a token may add another entry: for what is answered in any case, and counted where it is not written.
    static func hasRoom(
        for action: String, by actor: String, in store: StoreTransaction, at now: Timestamp
    ) throws -> Bool {
        let start = Timestamp(secondsSince1970: now.secondsSince1970 &- Self.secondsOfDay(now))
        return try store.auditEntryCount(of: action, by: actor, onDayOf: start, upTo: Self.maximumPerDay)
            < Self.maximumPerDay
    }

    /// The number of seconds of the day (UTC) that have passed.
    private static func secondsOfDay(_ now: Timestamp) -> Int64 {
        ((now.secondsSince1970 % Self.daySeconds) + Self.daySeconds) % Self.daySeconds
    }
}
