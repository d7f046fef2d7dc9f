// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// A log list: the logs that a publisher accepts, as JSON in the third version of the format that Chrome and Apple
/// publish (formats.md, section 4.2). Nothing here fetches one, and none is built in.
public struct LogList: Hashable, Sendable {
    /// The maximum length in bytes (formats.md, section 3.2).
    public static let maximumLength = 4_194_304

    /// The maximum number of JSON values: a log of a real list has about fifteen, in some 600 bytes.
    static let maximumValues = 131_072

    /// The maximum number of logs. The published lists of 2026 have below 100.
    static let maximumLogs = 4_096

    /// The maximum number of earlier operators of a log: a log seldom changes hands.
    static let maximumPreviousOperators = 64

    /// The maximum age of a list that enforces, in seconds: 70 days, as in Chrome's policy.
    public static let maximumAge: Int64 = 70 * 86_400

    /// The time when the publisher made the list; `nil` where the list does not say.
    public let timestamp: Timestamp?

    /// The logs, in the order of the list, without the traps.
    public let logs: [TransparencyLog]

    /// Logs of the list whose private keys are public. They are left out of ``logs``: see ``LogID/traps``.
    public let traps: [LogID]

    private let places: [LogID: Int]

    /// Creates a list.
    ///
    /// - Parameters:
    ///   - logs: The logs, each id once.
    ///   - timestamp: The time when the list was made.
    init(_ logs: [TransparencyLog], timestamp: Timestamp?) {
        self.timestamp = timestamp
        self.logs = logs.filter { !LogID.traps.contains($0.id) }
        self.traps = logs.map(\.id).filter { LogID.traps.contains($0) }
        self.places = Dictionary(self.logs.enumerated().map { ($1.id, $0) }) { first, _ in first }
    }

    /// The log with an id, or `nil`.
    public subscript(id: LogID) -> TransparencyLog? { self.places[id].map { self.logs[$0] } }

    /// Whether the list is too old to enforce anything at a time. A list without a time always is.
    ///
    /// - Parameter time: The time of the decision.
    public func isStale(at time: Timestamp) -> Bool {
        guard let timestamp else { return true }
        let (age, isOverflow) = time.secondsSince1970.subtractingReportingOverflow(timestamp.secondsSince1970)
        return isOverflow ? time > timestamp : age > Self.maximumAge
    }
}
