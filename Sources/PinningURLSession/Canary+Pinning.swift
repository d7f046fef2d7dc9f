// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@_spi(Adapters) internal import PinListClient
public import RuntimeIntegrity

extension Canary {
    /// Known answers of the functions that decide about connections of this adapter: the verdict, the signatures of
    /// lists, the hash of pins and, on Apple's platforms, the system's validation of paths as the delegates ask for it.
    ///
    ///     IntegrityMonitor(.standard(), on: AppleMachine(), canary: .pinning())
    ///
    /// Keys, certificates, hosts and lists are made anew for each trial. Nothing of the app's client takes part: no
    /// event, report, count or connection comes of it. In an app that imports PinningNIO as well, that module's is meant.
    @_disfavoredOverload
    public static func pinning() -> Canary {
        let answers = KnownAnswers()
        #if canImport(Security)
        return self.pinning(answers, beside: TrustTrials().all(answers))
        #else
        return self.pinning(answers)
        #endif
    }

    /// The same, of functions that a test chooses.
    ///
    /// - Parameters:
    ///   - answers: Of the functions that decide on every platform.
    ///   - others: Those of this platform alone.
    static func pinning(_ answers: KnownAnswers, beside others: [KnownAnswer] = []) -> Canary {
        let known = answers.all + others
        let hash = CanaryCheck.sha256(other: { answers.unseen }, answers.digest)
        return Canary(
            of: known.map { ($0.function, $0.isGood ? CanaryTrial.good($0.isAccepted) : .bad($0.isAccepted)) }
                + hash.trials.map { (hash.name, $0) })
    }
}
