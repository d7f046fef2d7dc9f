// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Tries actions that the sandbox must refuse.
public struct SandboxDetector: TamperDetector {
    /// `sandbox`.
    public let name = "sandbox"
    /// Occasional: at start and at random times.
    public let cost = DetectorCost.occasional

    private let fileName: String

    /// Creates the detector.
    ///
    /// - Parameter fileName: The name of the file that is tried: a random one, so that it never exists already.
    public init(fileName: String) { self.fileName = fileName }

    /// Tries to write outside of the app's folders, and to have a child: on a phone only, other systems allow both.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        var isPhone = false
        var answer = DetectorAnswer(of: self.name) { (signals) throws(ObservationError) in
            isPhone = try machine.exists(JailbreakTraces.phone)
            guard isPhone else { return }
            for folder in JailbreakTraces.forbiddenFolders {
                guard try machine.canWrite(at: folder + (folder == "/" ? "" : "/") + self.fileName) else { continue }
                signals.append(.init(.sandboxOpen, .high, "a file can be written outside of the app's folders"))
                return
            }
        }
        guard isPhone else { return answer }
        let child = DetectorAnswer(of: self.name) { (signals) throws(ObservationError) in
            guard try machine.canFork() else { return }
            signals.append(.init(.sandboxOpen, .high, "the process can have a child"))
        }
        answer.signals += child.signals
        answer.blindSpots += child.blindSpots
        return answer
    }
}
