// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning

/// A warning: a difference between another tool's configuration and ours.
public struct MigrationWarning: Hashable, Sendable, CustomStringConvertible {
    /// The effect of the difference on accepted paths.
    public enum Effect: String, Hashable, Sendable, CaseIterable {
        /// No effect: the same paths are accepted.
        case same
        /// Paths are accepted that the original refuses.
        case weaker
        /// Paths are refused that the original accepts: it can lock people out.
        case stricter
    }

    /// The host as it was written; `nil` for the whole.
    public let domain: String?

    /// The setting, by its own name: `TSKReportUris`, `pin-set`, `requireIssuer`.
    public let setting: String

    /// The effect on accepted paths.
    public let effect: Effect

    /// The difference, its reason and the remedy; without a full stop.
    public let message: String

    /// Creates a warning.
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
