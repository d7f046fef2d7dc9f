// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
@_spi(Adapters) import PinListClient
public import RuntimeIntegrity

extension Canary {
    /// Known answers of the functions that decide about connections of this adapter: the verdict, the signatures of
    /// lists, the hash of pins, the validation of paths, and the verification callback from end to end.
    ///
    ///     IntegrityMonitor(.standard(), on: LinuxMachine(), canary: .pinning())
    ///
    /// Keys, certificates, hosts and lists are made anew for each trial. Nothing of the app's client takes part: no
    /// event, report, count, connection or remembered path comes of it.
    public static func pinning() -> Canary { self.pinning(KnownAnswers(), PathTrials()) }

    /// The same, of functions that a test chooses.
    static func pinning(_ answers: KnownAnswers, _ paths: PathTrials) -> Canary {
        let known = (answers.all + paths.all(answers)).map {
            ($0.function, $0.isGood ? CanaryTrial.good($0.isAccepted) : .bad($0.isAccepted))
        }
        let hash = CanaryCheck.sha256(other: { answers.unseen }, answers.digest)
        return Canary(of: known + hash.trials.map { (hash.name, $0) })
    }
}
#endif
