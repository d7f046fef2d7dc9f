// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
internal import CertificatePinning
internal import Foundation

/// The system's answers to whether a path that was validated for one host is valid for another one, under one set of rules.
///
/// Behind a relay or a proxy each response may have come over any connection of the session. The system is asked once for each
/// different path and host, however many servers show that path and however many responses come; again when the answer is old,
/// because it depends on the time and on the system's state.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class ValidNames: @unchecked Sendable {
    /// The maximum number of answers: 16 hosts, and 1,024 paths for each. Beyond it all are asked for again.
    private static let maximum = 16_384

    /// The time for which a no is kept, in seconds. It is short: while it is kept, a connection that may have carried a response is
    /// passed over, and its path refuses nothing.
    private static let secondsOfNo: Int64 = 60
    /// The time for which a yes is kept, in seconds. The path still has to satisfy the pins; before iOS 18 the system does not say
    /// when its certificate expires.
    private static let secondsOfYes: Int64 = 3_600

    private struct Answer {
        let isValid: Bool
        let time: Timestamp

        /// Not before its time either: the clock may have gone back.
        func holds(at now: Timestamp) -> Bool {
            let (age, isOver) = now.secondsSince1970.subtractingReportingOverflow(self.time.secondsSince1970)
            return !isOver && age >= 0 && age < (self.isValid ? secondsOfYes : secondsOfNo)
        }
    }

    private struct Question: Hashable {
        let path: ValidatedPath
        let host: HostName

        // The leaf tells nearly all paths apart, and a whole path is several kilobytes.
        func hash(into hasher: inout Hasher) {
            hasher.combine(self.path.certificates.first)
            hasher.combine(self.host)
        }
    }

    private let lock = NSLock()
    private var epoch: UInt64 = 0
    private var answers: [Question: Answer] = [:]

    /// Returns one server for each different path that is valid for a host, too.
    func valid(
        _ others: [ConnectionLedger.Server: ValidatedPath], for host: HostName, under epoch: UInt64,
        at now: Timestamp
    ) -> [ConnectionLedger.Server: ValidatedPath] {
        var asked: Set<Question> = []
        return others.filter { _, path in
            asked.insert(Question(path: path, host: host)).inserted
                && self.isValid(path, for: host, under: epoch, at: now)
        }
    }

    /// Returns whether a path is valid for a host, too.
    ///
    /// - Parameters:
    ///   - epoch: The rules in force, by their number: answers are not kept beyond them.
    ///   - now: The time by the client's clock.
    func isValid(_ path: ValidatedPath, for host: HostName, under epoch: UInt64, at now: Timestamp) -> Bool {
        let question = Question(path: path, host: host)
        let known = self.lock.withLock {
            if self.epoch != epoch { (self.epoch, self.answers) = (epoch, [:]) }
            return self.answers[question]
        }
        if let known, known.holds(at: now) { return known.isValid }
        let isValid = SystemTrust.isValid(path, for: host)
        self.lock.withLock {
            guard self.epoch == epoch else { return }
            if self.answers.count >= Self.maximum { self.answers = [:] }
            self.answers[question] = Answer(isValid: isValid, time: now)
        }
        return isValid
    }
}
#endif
