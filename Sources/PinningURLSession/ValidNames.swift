// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(Security)
internal import CertificatePinning
internal import Foundation

/// The system's answers to whether a path that was validated for one host is valid for another one, under one set of rules.
///
/// Behind a relay or a proxy each response may have come over any connection of the session. The system is asked once for each
/// different path and host, however many servers show that path and however many responses come.
///
/// `@unchecked Sendable`: because what changes is read and written under the lock only.
final class ValidNames: @unchecked Sendable {
    /// The maximum number of answers: 16 hosts, and 1,024 paths for each. Beyond it all are asked for again.
    private static let maximum = 16_384

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
    private var answers: [Question: Bool] = [:]

    /// Returns one server for each different path that is valid for a host, too.
    func valid(
        _ others: [ConnectionLedger.Server: ValidatedPath], for host: HostName, under epoch: UInt64
    ) -> [ConnectionLedger.Server: ValidatedPath] {
        var asked: Set<Question> = []
        return others.filter { _, path in
            asked.insert(Question(path: path, host: host)).inserted && self.isValid(path, for: host, under: epoch)
        }
    }

    /// Returns whether a path is valid for a host, too.
    ///
    /// - Parameter epoch: The rules in force, by their number: answers are not kept beyond them.
    func isValid(_ path: ValidatedPath, for host: HostName, under epoch: UInt64) -> Bool {
        let question = Question(path: path, host: host)
        let known = self.lock.withLock {
            if self.epoch != epoch { (self.epoch, self.answers) = (epoch, [:]) }
            return self.answers[question]
        }
        if let known { return known }
        let answer = SystemTrust.isValid(path, for: host)
        self.lock.withLock {
            guard self.epoch == epoch else { return }
            if self.answers.count >= Self.maximum { self.answers = [:] }
            self.answers[question] = answer
        }
        return answer
    }
}
#endif
