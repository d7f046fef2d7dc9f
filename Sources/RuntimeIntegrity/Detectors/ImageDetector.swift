// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Looks at the names of the libraries that are loaded.
public struct ImageDetector: TamperDetector {
    /// `images`.
    public let name = "images"
    /// Now and then.
    public let cost = DetectorCost.occasional

    /// Creates the detector.
    public init() {}

    /// Looks at the files' names, not at the folders that they lie in.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(Unobservable) in
            for path in try machine.loadedImages() {
                let name = PrintableEvidence.name(ofPath: path)
                guard AgentNames.libraries.isPart(of: name) else { continue }
                signals.append(.init(.knownAgent, .high, "\(name) is loaded"))
                return
            }
        }
    }
}
