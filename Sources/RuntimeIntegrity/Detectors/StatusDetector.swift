// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Looks at what the system says of this process: who traces it, and how many threads it has.
public struct StatusDetector: TamperDetector {
    /// `status`.
    public let name = "status"
    /// Each connection.
    public let cost = DetectorCost.connection

    private let declared: DeclaredBehaviour

    /// Creates the detector.
    public init(_ declared: DeclaredBehaviour = DeclaredBehaviour()) { self.declared = declared }

    /// Looks at the status.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(Unobservable) in
            let status = try machine.status()
            if status.tracer != 0, !self.declared.tracers.contains(status.tracer) {
                signals.append(.init(.debuggerAttached, .high, "another process traces this one"))
            }
            if let most = self.declared.mostThreads, let threads = status.threads, threads > most {
                signals.append(.init(.unknownThreads, .low, "\(threads) threads; declared are \(most)"))
            }
        }
    }
}
