// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis

/// Compares the alarms that fire with those that fired, and has people told of what changed: of alarms of one kind in one
/// message (decision 0051). One transaction: where several instances look, one of them finds the change.
struct AlarmEvaluation: Sendable {
    /// The time for which alarms that begin join a message of their kind, in seconds, and the shortest time between its
    /// messages on changes after that: an hour.
    static let joining: Int64 = 3_600
    /// The time that a message waits after its begin before it tells of alarms that joined it, in seconds, and the longest
    /// that one waits that is critical, or grew: what breaks at once is noticed within minutes.
    static let settling: Int64 = 300

    /// The names of those who are told.
    let targets: [String]

    /// The changes of an evaluation.
    ///
    /// - Returns: The events that were put into the queue, one for each message that tells something.
    @discardableResult
    func apply(_ alarms: [Alarm], in store: StoreTransaction, auditHead: String, at now: Timestamp) throws
        -> [AlarmEvent]
    {
        let seen = try store.acknowledgedMessages(at: now)
        try self.keep(alarms, in: store, at: now)
        // What begins in a message that a person has seen, or becomes more urgent, leaves it: a pager that was told of the
        // acknowledgement would not call.
        for alarm in try store.firingAlarms() where alarm.acknowledgement == nil {
            if let message = alarm.message, seen.contains(message) { try store.join(alarm.key, to: nil) }
        }
        try store.removeSilences(endedBy: now)
        let silences = try store.silences(at: now)
        try self.mark(silences, in: store)
        let begun = try self.begin(
            Self.unassigned(try store.untoldAlarms(), try store.alarmMessages(), silences), besides: seen,
            in: store, at: now)
        let parts = Dictionary(grouping: try store.untoldAlarms().filter { $0.message != nil }) { $0.message ?? 0 }
        var events: [AlarmEvent] = []
        for message in try store.alarmMessages() {
            let event = try self.tell(
                message, parts[message.number] ?? [], isNew: begun.contains(message.number), silences, in: store,
                auditHead: auditHead, at: now)
            if let event { events.append(event) }
        }
        for event in events {
            for target in self.targets {
                // An older message that did not get through would arrive after this one, and say what is no longer so.
                let withdrawn = try store.withdrawNotifications(to: target) { AlarmEvent($0)?.key == event.key }
                try store.notify(target, event.json.bytes, at: now)
                // That a person has seen them is still so while they last.
                let seen = withdrawn.last { AlarmEvent($0)?.phase == .acknowledged }
                if event.phase == .firing, let seen { try store.notify(target, seen, at: now) }
            }
        }
        // The last one that no person had seen may have ended.
        return try events + AlarmHandling.tell(besides: seen, in: store, at: now)
    }

    /// Brings what is kept of each alarm up to date.
    private func keep(_ alarms: [Alarm], in store: StoreTransaction, at now: Timestamp) throws {
        let firing = Dictionary(try store.firingAlarms().map { ($0.key, $0) }) { first, _ in first }
        // The most urgent of one key.
        let wanted = Dictionary(alarms.map { ($0.key, $0) }) { $0.severity < $1.severity ? $1 : $0 }
        for alarm in wanted.values.sorted(by: { $0.key < $1.key }) {
            try store.put(alarm, since: firing[alarm.key]?.since ?? now)
        }
        // A person who has seen a notice has not seen that it became critical, nor one who saw ten reports a million.
        for alarm in try store.firingAlarms() where alarm.acknowledgement != nil {
            let before = Alarm.Severity.known(firing[alarm.key]?.severity ?? alarm.severity)
            if before < .known(alarm.severity) || alarm.hasGrown {
                try store.putAcknowledgement(nil, of: alarm.key)
            }
        }
        for key in firing.keys.sorted() where wanted[key] == nil { try store.endAlarm(key, at: now) }
    }

    /// Marks what silences cover in messages: when none does any more, people are told, whatever they were told before.
    private func mark(_ silences: [StoredSilence], in store: StoreTransaction) throws {
        for alarm in try store.untoldAlarms() where alarm.message != nil {
            if alarm.acknowledgement != nil {
                if alarm.isSilenced { try store.put(told: alarm.severity, of: alarm.key) }
            } else if !alarm.isSilenced, silences.covering(alarm) != nil {
                try store.put(told: StoredAlarm.silenced, of: alarm.key)
            }
        }
    }

    /// The alarms that belong into another message: those without a message that no person has seen, and those that became
    /// more urgent than theirs said while others of it did not. A pager that a person silenced for less would not call.
    ///
    /// - Parameters:
    ///   - rows: The alarms that fire, and those whose end was not told.
    ///   - messages: The messages whose end was not told.
    ///   - silences: The silences that are not over.
    private static func unassigned(
        _ rows: [StoredAlarm], _ messages: [StoredAlarmMessage], _ silences: [StoredSilence]
    ) -> [StoredAlarm] {
        let loud = rows.filter { $0.endedAt == nil && silences.covering($0) == nil }
        let risen = messages.flatMap { message -> [String] in
            let parts = rows.filter { $0.message == message.number && $0.endedAt == nil }
            let risen = parts.filter { Alarm.Severity.known($0.severity) > .known(message.severity) }
            return risen.count < parts.count ? risen.map(\.key) : []
        }
        let moving = Set(risen)
        return loud.filter { ($0.message == nil && $0.acknowledgement == nil) || moving.contains($0.key) }
    }

    /// Puts alarms into a message of their kind: into one that began within ``joining`` seconds and is as urgent, else into
    /// a new one. None joins a message that a person has seen, or that a wrong clock dated ahead.
    ///
    /// - Parameters:
    ///   - alarms: The alarms.
    ///   - seen: The messages that were acknowledged before this look.
    ///   - store: The transaction.
    ///   - now: The time.
    /// - Returns: The messages that began.
    private func begin(
        _ alarms: [StoredAlarm], besides seen: Set<Int64>, in store: StoreTransaction, at now: Timestamp
    ) throws -> Set<Int64> {
        let open = try store.alarmMessages()
        var used = Set(open.map(\.key))
        var begun: Set<Int64> = []
        for (kind, alarms) in Dictionary(grouping: alarms, by: \.kind).sorted(by: { $0.key < $1.key }) {
            var rest = alarms
            let joined = open.last {
                $0.kind == kind && !seen.contains($0.number)
                    && (-Self.joining..<Self.joining).contains(now.secondsSince1970 - $0.begunAt.secondsSince1970)
            }
            if let joined {
                rest = alarms.filter { Alarm.Severity.known($0.severity) > .known(joined.severity) }
                let above = Set(rest.map(\.key))
                for alarm in alarms where !above.contains(alarm.key) { try store.join(alarm.key, to: joined.number) }
            }
            guard let first = rest.first, let severity = rest.map({ Alarm.Severity.known($0.severity) }).max()
            else { continue }
            // The key of an alarm that ended and began anew may be that of an older message of others.
            let keys = rest.map(\.key) + (2...(open.count + 2)).map { "\(first.key)#\($0)" }
            let key = keys.first { !used.contains($0) } ?? first.key
            used.insert(key)
            let number = try store.addAlarmMessage(
                key: key, kind: kind, severity: severity, at: now, nextAt: now.before(-Self.settling))
            begun.insert(number)
            for alarm in rest { try store.join(alarm.key, to: number) }
        }
        return begun
    }

    /// The event that a message has to tell now; `nil` for none.
    ///
    /// - Parameters:
    ///   - alarms: Its alarms, those that ended since it last told something included.
    ///   - isNew: Whether it told nothing yet.
    private func tell(
        _ message: StoredAlarmMessage, _ alarms: [StoredAlarm], isNew: Bool, _ silences: [StoredSilence],
        in store: StoreTransaction, auditHead: String, at now: Timestamp
    ) throws -> AlarmEvent? {
        let firing = alarms.filter { $0.endedAt == nil }
        guard !firing.isEmpty else {
            // The end of what was told is told, silenced or not: a pager has to close.
            try store.removeAlarmMessage(message.number)
            return AlarmEvent(
                .recovered, of: message, severity: .known(message.severity), alarms, time: now, auditHead: auditHead)
        }
        let loud = firing.filter { silences.covering($0) == nil }
        guard let urgent = loud.map({ Alarm.Severity.known($0.severity) }).max() else { return nil }
        // What rang before it was silenced rings when the silence ends.
        let isAtOnce = isNew || urgent > .known(message.severity) || loud.contains(where: \.isSilenced)
        // What is critical waits for no hour that another alarm, which anybody may have rung, began; nor does what grew.
        let isPressing = loud.contains { alarm in
            alarm.hasGrown || (alarm.told == nil && .known(alarm.severity) == Alarm.Severity.critical)
        }
        let isChanged =
            isPressing
            || loud.contains { $0.told != $0.severity } || alarms.contains { $0.endedAt != nil && $0.told != nil }
        // A time far ahead is one that a wrong clock set.
        let left = message.nextAt.secondsSince1970 - now.secondsSince1970
        guard isAtOnce || (isChanged && (left <= 0 || left > Self.joining)) else {
            if isPressing, left > Self.settling {
                try store.bringForward(message.number, to: now.before(-Self.settling))
            }
            return nil
        }
        let age = now.secondsSince1970 - message.begunAt.secondsSince1970
        let next = (0..<Self.joining).contains(age) ? message.begunAt.before(-Self.joining) : now.before(-Self.joining)
        let severity = firing.map { Alarm.Severity.known($0.severity) }.max() ?? urgent
        // An urgent message leaves the time of the next one as it was.
        try store.putTold(message.number, severity, nextAt: left > 0 && left <= Self.joining ? message.nextAt : next)
        return AlarmEvent(.firing, of: message, severity: severity, firing, time: now, auditHead: auditHead)
    }
}
