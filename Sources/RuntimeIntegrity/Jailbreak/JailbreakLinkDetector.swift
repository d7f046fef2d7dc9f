// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Looks for folders of the system that are symbolic links.
public struct JailbreakLinkDetector: TamperDetector {
    /// `jailbreak-links`.
    public let name = "jailbreak-links"
    /// Now and then.
    public let cost = DetectorCost.occasional

    /// Creates the detector.
    public init() {}

    /// Looks at each folder, on a phone only: other systems make such links themselves.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(Unobservable) in
            guard try machine.exists(JailbreakTraces.phone) else { return }
            for folder in JailbreakTraces.folders where try machine.linkTarget(of: folder) != nil {
                signals.append(.init(.jailbreakLink, .high, "\(folder) is a link"))
                return
            }
        }
    }
}
