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

/// How rarely a signal is seen in a process that nobody touches.
public struct Confidence: Hashable, Sendable, Comparable, CustomStringConvertible {
    private let rank: Int

    /// `low`, `medium` or `high`.
    public let description: String

    private init(_ rank: Int, _ description: String) {
        self.rank = rank
        self.description = description
    }

    /// Common in honest processes, too: worth a line in a report, no more.
    public static let low = Self(1, "low")
    /// Seldom in honest processes; there are known exceptions.
    public static let medium = Self(2, "medium")
    /// No honest process is known to show it, unless its operator did it himself.
    public static let high = Self(3, "high")

    /// By rank.
    public static func < (one: Self, other: Self) -> Bool { one.rank < other.rank }
}

/// A detector that could not look.
public struct BlindSpot: Hashable, Sendable, CustomStringConvertible {
    /// The detector's name.
    public let detector: String

    /// Why it could not.
    public let reason: ObservationError

    /// Creates a value.
    public init(detector: String, reason: ObservationError) {
        self.detector = detector
        self.reason = reason
    }

    /// Who and why.
    public var description: String { "\(self.detector): \(self.reason)" }
}

/// Text that others chose (names of threads, of libraries, of files), made fit for a log.
enum PrintableEvidence {
    /// One line of printable ASCII.
    static func line(_ text: String, maximumLength: Int) -> String {
        var line = ""
        for scalar in text.unicodeScalars.prefix(maximumLength) {
            line.unicodeScalars.append((0x20...0x7E).contains(scalar.value) ? scalar : "?")
        }
        return line
    }

    /// The last part of a path: which folder a file lies in is the business of whom installed it.
    static func name(ofPath path: String) -> String {
        let bytes = path.utf8
        guard let slash = bytes.lastIndex(of: 0x2F) else { return path }
        return String(path[bytes.index(after: slash)...])
    }
}
