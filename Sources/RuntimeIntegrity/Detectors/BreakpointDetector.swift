// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Looks for breakpoints at the beginnings of named functions.
///
/// A debugger's software breakpoint is an instruction in the place of another. It is there while the program runs.
public struct BreakpointDetector: TamperDetector {
    /// `breakpoints`.
    public let name = "breakpoints"
    /// Each connection: a microsecond a function.
    public let cost = DetectorCost.connection

    private let functions: [WatchedFunction]
    private let processor: Processor

    /// Creates the detector.
    ///
    /// - Parameters:
    ///   - functions: Those that decide: an app's verification callback, its TLS library's.
    ///   - processor: Whose instructions they are.
    public init(_ functions: [WatchedFunction], processor: Processor = .current) {
        self.functions = functions
        self.processor = processor
    }

    /// Looks at the first instruction of each function.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        var answer = DetectorAnswer()
        for function in self.functions {
            let one = DetectorAnswer(of: self.name) { (signals) throws(Unobservable) in
                let bytes = try machine.bytes(at: function.address, count: 8)
                guard self.processor.hasBreakpoint(bytes) else { return }
                signals.append(.init(.breakpoint, .high, "\(function.name) begins with a breakpoint"))
            }
            answer.signals += one.signals
            answer.blindSpots += one.blindSpots
        }
        return answer
    }
}
