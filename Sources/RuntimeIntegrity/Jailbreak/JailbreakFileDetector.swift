// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Looks for files that jailbreaks leave.
public struct JailbreakFileDetector: TamperDetector {
    /// `jailbreak-files`.
    public let name = "jailbreak-files"
    /// Now and then.
    public let cost = DetectorCost.occasional

    /// Creates the detector.
    public init() {}

    /// Looks for each file. A shell or a package manager counts on a phone only: every container has them.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        var answer = DetectorAnswer()
        let telling = self.first(of: JailbreakTraces.files, machine, &answer)
        if let telling {
            answer.signals.append(
                .init(.jailbreakFile, .high, "\(PrintableEvidence.name(ofPath: telling)) exists"))
        }
        guard self.first(of: [JailbreakTraces.phone], machine, &answer) != nil else { return answer }
        if let common = self.first(of: JailbreakTraces.unixFiles, machine, &answer) {
            answer.signals.append(
                .init(.jailbreakFile, .medium, "\(PrintableEvidence.name(ofPath: common)) exists on a phone"))
        }
        return answer
    }

    private func first(of paths: [String], _ machine: any ObservedMachine, _ answer: inout DetectorAnswer) -> String? {
        for path in paths {
            do throws(Unobservable) {
                if try machine.exists(path) { return path }
            } catch {
                // The sandbox refuses what it does not show: that is how it should be, and no blind spot.
                if error.code != .refused { answer.blindSpots.append(BlindSpot(detector: self.name, reason: error)) }
            }
        }
        return nil
    }
}
