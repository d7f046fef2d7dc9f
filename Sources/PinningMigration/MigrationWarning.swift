// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// Something of another tool's configuration that is not the same here, or of ours that is not the same there.
public struct MigrationWarning: Hashable, Sendable, CustomStringConvertible {
    /// What the difference does to what is accepted.
    public enum Effect: String, Hashable, Sendable, CaseIterable {
        /// Nothing: the same paths are accepted.
        case same
        /// Paths are accepted that the original refuses.
        case weaker
        /// Paths are refused that the original accepts: it can lock people out.
        case stricter
    }

    /// The host that it is about, as it was written; `nil` for the whole.
    public let domain: String?

    /// The setting, by its own name: `TSKReportUris`, `pin-set`, `requireIssuer`.
    public let setting: String

    /// What it does to what is accepted.
    public let effect: Effect

    /// What is different, why, and what to do; without a full stop.
    public let message: String

    /// States a difference.
    public init(domain: String? = nil, setting: String, effect: Effect, message: String) {
        self.domain = domain
        self.setting = setting
        self.effect = effect
        self.message = message
    }

    /// One line: host, setting, message, and whether more or less is accepted.
    public var description: String {
        let place = self.domain.map { "\(PrintableText.line($0, maximumLength: 256)): " } ?? ""
        let effect =
            switch self.effect {
            case .same: ""
            case .weaker: " (accepts more)"
            case .stricter: " (refuses more)"
            }
        return place + PrintableText.line("\(self.setting): \(self.message)") + effect
    }
}
