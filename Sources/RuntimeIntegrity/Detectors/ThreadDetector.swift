// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Looks at the names of threads.
///
/// Frida 17 and 16 leave their threads the name of the program; this finds other tools, and older ones.
public struct ThreadDetector: TamperDetector {
    /// `threads`.
    public let name = "threads"
    /// Now and then: ten microseconds a thread.
    public let cost = DetectorCost.occasional

    /// Creates the detector.
    public init() {}

    /// Looks at the names of all threads.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(Unobservable) in
            for thread in try machine.threadNames() where AgentNames.threads.isPart(of: thread) {
                signals.append(.init(.agentThread, .high, "a thread is called \(thread)"))
                return
            }
        }
    }
}
