// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import NIOConcurrencyHelpers
internal import PinListStore
internal import PinReportAnalysis

/// The failures of the store that this instance met, in memory, and which targets were told of them: the queue of all
/// other notifications is in the store (docs/decisions/0086).
final class StoreFailures: Sendable {
    /// Work that an instance asks the store for all the time.
    enum Work: String, CaseIterable, Sendable {
        /// Evaluating the rules of alarms, or seeing that another instance does.
        case evaluating = "alarms are not evaluated"
        /// Sending the notifications that wait.
        case sending = "notifications are not sent"
        /// Storing reports.
        case reports = "reports are not stored"
    }

    /// The begin of an attempt that has not ended.
    private struct Begin {
        let time: Timestamp
        let uptime: Double
    }

    /// The attempts at some work since the last one that succeeded.
    private struct Failure {
        let since: Timestamp
        let first: Double
        var last: Double
        var code: String
    }

    /// What became of telling a target.
    private struct Telling {
        var isTaken = false
        var attempts: Int64 = 0
        var next = 0.0
    }

    private struct State {
        var begun: [Work: Begin] = [:]
        var failures: [Work: Failure] = [:]
        var tellings: [String: Telling] = [:]
        var told: AlarmEvent?
    }

    /// The time for which all attempts at some work have to fail before people are told, in seconds: a database that is
    /// started anew takes less.
    static let tolerated = 300.0
    /// The time after which a target is told once more, in seconds, and after which a failure counts no more that nothing
    /// was asked for after: an hour.
    static let repeating = 3_600.0

    /// The code of an attempt that has not ended.
    static let unanswered = "no-answer"

    /// The time after which an attempt that has not ended counts as one that failed, in seconds: no limit of a store ends a
    /// call to a disk that hangs.
    static let patience = 60.0

    private let state = NIOLockedValueBox(State())

    /// Begins without any.
    init() {}

    /// Notes that an attempt, or the next call of one, begins. Of each work there is one at a time.
    func begin(_ work: Work, by clock: any ServiceClock) {
        let begin = Begin(time: clock.now, uptime: clock.uptime)
        self.state.withLockedValue { $0.begun[work] = begin }
    }

    /// Notes how an attempt ended.
    ///
    /// - Parameter result: The result; `nil` where the attempt says nothing about the store but that it answers.
    func note(_ work: Work, _ result: Result<Void, any Error>?, by clock: any ServiceClock) {
        let (now, uptime) = (clock.now, clock.uptime)
        self.state.withLockedValue { state in
            let begin = state.begun.removeValue(forKey: work) ?? Begin(time: now, uptime: uptime)
            switch result {
            case nil: break
            case .success?: state.failures[work] = nil
            case .failure(let error)?:
                // The code alone: what a database says may name its address and its user.
                let code = (error as? StoreError)?.code.description ?? "\(type(of: error))"
                Self.add(code, begin, at: uptime, to: &state.failures[work])
            }
        }
    }

    private static func add(_ code: String, _ begin: Begin, at uptime: Double, to failure: inout Failure?) {
        var all = failure ?? Failure(since: begin.time, first: begin.uptime, last: uptime, code: code)
        all.last = uptime
        all.code = code
        failure = all
    }

    /// The failures by now: those that ended, and the attempts that have not for too long.
    private func failures(at uptime: Double) -> [Work: Failure] {
        let state = self.state.withLockedValue { $0 }
        var failures = state.failures
        for (work, begin) in state.begun where uptime - begin.uptime >= Self.patience {
            Self.add(Self.unanswered, begin, at: uptime, to: &failures[work])
        }
        return failures
    }

    /// The event that tells of failures that have lasted; `nil` while none has.
    func event(of instance: String, by clock: any ServiceClock) -> AlarmEvent? {
        let (now, uptime, kind) = (clock.now, clock.uptime, Alarm.Kind.storeFailed)
        let lasting = self.failures(at: uptime).filter { _, failure in
            failure.last - failure.first >= Self.tolerated && uptime - failure.last <= Self.repeating
        }
        guard let since = lasting.values.map(\.since).min() else { return nil }
        let facts = Work.allCases.compactMap { work in lasting[work].map { "\(work.rawValue) (\($0.code))" } }
        return AlarmEvent(
            .firing, key: "\(kind.rawValue):\(instance)", kind: kind.rawValue,
            severity: Alarm.Severity.critical.rawValue,
            detail: AlarmSentence.text(
                kind.opening, "instance \(instance)",
                "\(AlarmSentence.since(since, at: now)): \(facts.joined(separator: ", "))"),
            since: since, time: now, auditHead: "")
    }

    /// The targets, of some, that are to be told now: at the begin, an hour after they took it, and ever more seldom while
    /// they do not.
    func due(_ targets: [AlertTarget], at uptime: Double) -> [AlertTarget] {
        let tellings = self.state.withLockedValue { $0.tellings }
        return targets.filter { uptime >= tellings[$0.name]?.next ?? 0 }
    }

    /// Notes whether a target took an event.
    func note(_ event: AlarmEvent, to target: String, isTaken: Bool, at uptime: Double) {
        self.state.withLockedValue { state in
            var telling = state.tellings[target] ?? Telling()
            telling.isTaken = telling.isTaken || isTaken
            telling.attempts = isTaken ? 0 : telling.attempts + 1
            let wait = isTaken ? Self.repeating : Double(AlarmWatch.wait(after: telling.attempts))
            telling.next = uptime + wait
            state.tellings[target] = telling
            state.told = event
        }
    }

    /// The last event, with the targets that took one; `nil` where no target was tried.
    var told: (event: AlarmEvent, targets: [String])? {
        self.state.withLockedValue { state in
            state.told.map { (event: $0, targets: state.tellings.filter { $0.value.isTaken }.keys.sorted()) }
        }
    }

    /// Forgets targets that are told of the end, and those that took nothing. One that took an event meanwhile is left.
    func forgetTold(_ targets: [String]) {
        self.state.withLockedValue { state in
            state.tellings = state.tellings.filter { $0.value.isTaken && !targets.contains($0.key) }
            if state.tellings.isEmpty { state.told = nil }
        }
    }
}
