// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A signal that an intruder may be inside the process. It is no proof.
public struct TamperSignal: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length of ``evidence`` in characters. It is a sentence for people, and part of events.
    public static let evidenceLength = 160

    /// The name of the signal. It is in reports; the evidence is not.
    public let name: SignalName

    /// The confidence: how rarely the signal is seen in an untouched process.
    public let confidence: Confidence

    /// The evidence in words: one line of printable ASCII, without addresses and secrets.
    public let evidence: String

    /// Creates a signal.
    ///
    /// - Parameters:
    ///   - name: The name of the signal.
    ///   - confidence: The confidence: how rarely the signal is seen in an untouched process.
    ///   - evidence: Any text; other characters than printable ASCII become `?`, a long text is cut.
    public init(_ name: SignalName, _ confidence: Confidence, _ evidence: String) {
        self.name = name
        self.confidence = confidence
        self.evidence = PrintableEvidence.line(evidence, maximumLength: Self.evidenceLength)
    }

    /// Name, confidence and evidence.
    public var description: String { "\(self.name) (\(self.confidence)): \(self.evidence)" }
}

/// The confidence of a signal: how rarely it is seen in an untouched process.
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
    /// No honest process is known to show it, unless its operator caused it.
    public static let high = Self(3, "high")

    /// Ordered by rank.
    public static func < (one: Self, other: Self) -> Bool { one.rank < other.rank }
}

/// A blind spot: a detector that could not look.
public struct BlindSpot: Hashable, Sendable, CustomStringConvertible {
    /// The detector's name.
    public let detector: String

    /// The reason.
    public let reason: ObservationError

    /// Creates a value.
    public init(detector: String, reason: ObservationError) {
        self.detector = detector
        self.reason = reason
    }

    /// The detector and the reason.
    public var description: String { "\(self.detector): \(self.reason)" }
}

/// Foreign text (names of threads, of libraries, of files), made safe for a log.
enum PrintableEvidence {
    /// One line of printable ASCII.
    static func line(_ text: String, maximumLength: Int) -> String {
        var line = ""
        for scalar in text.unicodeScalars.prefix(maximumLength) {
            line.unicodeScalars.append((0x20...0x7E).contains(scalar.value) ? scalar : "?")
        }
        return line
    }

    /// The last part of a path: the folder of a file is private to the user.
    static func name(ofPath path: String) -> String {
        let bytes = path.utf8
        guard let slash = bytes.lastIndex(of: 0x2F) else { return path }
        return String(path[bytes.index(after: slash)...])
    }
}
