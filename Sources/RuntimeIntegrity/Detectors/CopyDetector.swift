// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Looks at pages of code that are no longer their file's, by another way than ``PageDetector``.
///
/// Who silences one of the two has not silenced the other: they ask the system for different things, and have no code
/// in common. A process that may not read the state of its single pages (`PR_SET_DUMPABLE` is 0) can still read this.
public struct CopyDetector: TamperDetector {
    /// `copies`.
    public let name = "copies"
    /// Now and then: the system counts all pages of the process for it.
    public let cost = DetectorCost.occasional

    /// Creates the detector.
    public init() {}

    /// Looks at the system's counts.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        let copied: [ChangedPages]
        do throws(Unobservable) {
            copied = try machine.copiedCode()
        } catch {
            var answer = DetectorAnswer()
            answer.blindSpots.append(BlindSpot(detector: self.name, reason: error))
            return answer
        }
        guard let first = copied.first else { return DetectorAnswer() }
        let pages = copied.reduce(0) { $0 + $1.count }
        let file = PrintableEvidence.name(ofPath: first.path)
        return DetectorAnswer([
            TamperSignal(.changedCodePages, .high, "\(pages) pages of code were changed, the first in \(file)")
        ])
    }
}
