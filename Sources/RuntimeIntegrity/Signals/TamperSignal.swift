// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// One thing that was noticed: it says that somebody may be inside the process, and proves nothing.
public struct TamperSignal: Hashable, Sendable, CustomStringConvertible {
    /// The most characters of ``evidence``. It is a sentence for a person, and travels in events.
    public static let evidenceLength = 160

    /// Which signal it is. This goes into reports; the evidence does not.
    public let name: SignalName

    /// How rarely it is seen in a process that nobody touches.
    public let confidence: Confidence

    /// What was seen, in words: one line of printable ASCII, without addresses and without what is secret.
    public let evidence: String

    /// Creates a signal.
    ///
    /// - Parameters:
    ///   - name: Which signal it is.
    ///   - confidence: How rarely it is seen in a process that nobody touches.
    ///   - evidence: Anything; what is not printable ASCII becomes `?`, what is too long is cut.
    public init(_ name: SignalName, _ confidence: Confidence, _ evidence: String) {
        self.name = name
        self.confidence = confidence
        self.evidence = PrintableEvidence.line(evidence, maximumLength: Self.evidenceLength)
    }

    /// Name, confidence and evidence.
    public var description: String { "\(self.name) (\(self.confidence)): \(self.evidence)" }
}
