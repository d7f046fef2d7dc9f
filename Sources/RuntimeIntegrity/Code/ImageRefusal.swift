// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Why an executable file is not read.
///
/// Only ``code`` takes part in comparisons.
struct ImageRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was wrong. Bounded, so it may label a metric.
    struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code, lower case with hyphens.
        let description: String

        /// Not an executable of the format.
        static let otherFormat = Code(description: "other-format")
        /// An executable of the format, of a kind or an architecture that is not understood.
        static let unsupported = Code(description: "unsupported")
        /// Bytes that a header promises are not there.
        static let truncated = Code(description: "truncated")
        /// Numbers that contradict each other.
        static let malformed = Code(description: "malformed")
        /// More of something than ``ImageLimits`` allows.
        static let tooLarge = Code(description: "too-large")
    }

    /// What was wrong.
    let code: Code

    /// Where, in one sentence without a full stop.
    let reason: String

    /// States a refusal.
    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The code and the reason.
    var description: String { "\(self.code): \(self.reason)" }

    /// Equal when the codes are.
    static func == (left: ImageRefusal, right: ImageRefusal) -> Bool { left.code == right.code }

    /// Feeds the code alone, as `==` compares it alone.
    func hash(into hasher: inout Hasher) { hasher.combine(self.code) }
}
