// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Looks at what descriptors lead to.
public struct DescriptorDetector: TamperDetector {
    /// `descriptors`.
    public let name = "descriptors"
    /// Now and then: three microseconds a descriptor.
    public let cost = DetectorCost.occasional

    /// Creates the detector.
    public init() {}

    /// Looks at all descriptors.
    ///
    /// Sockets and event descriptors are an agent's traces, too, and those of every program with a network: they are
    /// no signal.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(Unobservable) in
            for descriptor in try machine.descriptors() {
                let name = PrintableEvidence.name(ofPath: descriptor.target)
                guard AgentNames.descriptors.isPart(of: name) else { continue }
                signals.append(.init(.agentDescriptor, .medium, "a descriptor leads to \(name)"))
                return
            }
        }
    }
}
