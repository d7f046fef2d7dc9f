// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Asks for apps that only a jailbreak installs.
public struct SchemeDetector: TamperDetector {
    /// `schemes`.
    public let name = "schemes"
    /// Now and then.
    public let cost = DetectorCost.occasional

    /// Creates the detector.
    public init() {}

    /// Asks for each scheme. Any app may claim a scheme: the confidence is medium.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(Unobservable) in
            for scheme in JailbreakTraces.schemes where try machine.canOpen(scheme: scheme) {
                signals.append(.init(.jailbreakApp, .medium, "an app opens \(scheme) addresses"))
                return
            }
        }
    }
}
