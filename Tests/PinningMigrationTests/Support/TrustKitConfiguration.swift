// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinningMigration

/// Configurations of TrustKit, as an app writes them.
enum TrustKitConfiguration {
    /// A pin made of one letter, in base64.
    static func hash(_ letter: Character) -> String { String(repeating: letter, count: 42) + "A=" }

    /// A host with two pins.
    static func domain(_ changes: [String: Any] = [:], without key: String = "") -> [String: Any] {
        var domain: [String: Any] = [
            "TSKPublicKeyHashes": [Self.hash("a"), Self.hash("b")], "TSKDisableDefaultReportUri": true,
        ]
        domain.merge(changes) { $1 }
        domain[key] = nil
        return domain
    }

    /// A whole configuration.
    static func configuration(_ domains: [String: Any], _ changes: [String: Any] = [:]) -> [String: Any] {
        ["TSKSwizzleNetworkDelegates": false, "TSKPinnedDomains": domains].merging(changes) { $1 }
    }

    /// The pins of a configuration with one host, `api.example.com`.
    static func migrated(_ changes: [String: Any] = [:], without key: String = "") throws -> MigratedPins {
        try MigratedPins(trustKit: self.configuration(["api.example.com": self.domain(changes, without: key)]))
    }
}

extension MigratedPins {
    /// The settings that there are warnings of, with what each does.
    var warned: [String] { self.warnings.map { "\($0.setting) \($0.effect.rawValue)" } }

    /// The entry of a host.
    func entry(_ host: String) throws -> PinnedDomain? {
        let name = try HostName(host)
        return self.domains.first { $0.domain == name }
    }
}

extension PinnedDomain {
    /// The pins, each with its position, in short.
    var written: [String] { self.pins.map { "\($0.position.rawValue) \($0.pin)" } }
}
