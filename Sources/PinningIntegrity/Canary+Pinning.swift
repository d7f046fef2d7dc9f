// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinListClient
public import RuntimeIntegrity

extension Canary {
    /// Known answers of the functions that decide about connections: the verdict, the signatures of lists and the hash of
    /// pins; with `PinningNIO` the validation of paths and the verification callback from end to end; on Apple's platforms
    /// the system's validation of paths as the delegates ask for it.
    ///
    ///     IntegrityMonitor(.standard(), on: AppleMachine(), canary: .pinning())
    ///
    /// Keys, certificates, hosts and lists are made anew for each trial. The app's client does not take part: no event,
    /// report, count, connection or cached path follows.
    public static func pinning() -> Canary {
        let answers = KnownAnswerCheck()
        var others: [KnownAnswer] = []
        #if NIO
        others += PathTrials().all(answers)
        #endif
        #if canImport(Security)
        others += TrustTrials().all(answers)
        #endif
        return self.pinning(answers, beside: others)
    }

    /// A canary of functions that a test chooses.
    ///
    /// - Parameters:
    ///   - answers: The answers of the functions that decide on every platform.
    ///   - others: The answers of an adapter's functions.
    static func pinning(_ answers: KnownAnswerCheck, beside others: [KnownAnswer] = []) -> Canary {
        let known = (answers.all + others).map {
            ($0.function, $0.isGood ? CanaryTrial.good($0.isAccepted) : .bad($0.isAccepted))
        }
        let hash = CanaryCheck.sha256(other: { answers.unseen }, answers.digest)
        return Canary(of: known + hash.trials.map { (hash.name, $0) })
    }
}
