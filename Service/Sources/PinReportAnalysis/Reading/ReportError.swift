// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The defect by which a body is no report, as HTTP says it (formats.md, section 7).
public struct ReportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of defect. Bounded, so it may label a metric.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code, lower case with hyphens.
        public let description: String
        /// The status of the answer.
        public let status: Int

        /// Over a limit of ``ReportBodyLimits`` in bytes, or in entries.
        package static let tooLarge = Code(description: "too-large", status: 413)
        /// The body is not JSON, not UTF-8, too deep, has too many values, or a member twice.
        package static let notJSON = Code(description: "not-json", status: 400)
        /// JSON that is none of the forms that are understood.
        package static let notReport = Code(description: "not-a-report", status: 400)
        /// A member of another type than its format says.
        package static let wrongType = Code(description: "wrong-type", status: 400)
        /// A number or a count beyond its bounds.
        package static let outOfRange = Code(description: "out-of-range", status: 400)
        /// A text over ``ReportBodyLimits/textBytes``.
        package static let textTooLong = Code(description: "text-too-long", status: 400)
        /// An envelope that is not base64, or is too large.
        package static let envelopeInvalid = Code(description: "envelope-invalid", status: 400)

        /// All of them.
        public static let all: [Code] = [
            .tooLarge, .notJSON, .notReport, .wrongType, .outOfRange, .textTooLong, .envelopeInvalid,
        ]
    }

    /// The kind of defect.
    public let code: Code
    /// The detail, in one sentence without a full stop; nothing of the body's text stands in it.
    public let detail: String

    /// States a defect.
    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    /// The code and the detail.
    public var description: String { "\(self.code): \(self.detail)" }
}
