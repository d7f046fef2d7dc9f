// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Looks at who started this process.
public struct ParentDetector: TamperDetector {
    /// `parent`.
    public let name = "parent"
    /// Now and then.
    public let cost = DetectorCost.occasional

    /// Creates the detector.
    public init() {}

    /// Looks at the parent's name. A script that starts programs under Frida is called `python`, and not noticed here.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(Unobservable) in
            guard let parent = try machine.parentName(), AgentNames.parents.contains(parent) else { return }
            signals.append(.init(.debuggerParent, .medium, "the process was started by \(parent)"))
        }
    }
}
