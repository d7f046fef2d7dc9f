// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CertificateSightings
import PinListMetadata

/// The input of a monitor: a certificate or a precertificate, whose identity is held against a second way to compute
/// it, and whose names are evaluated by a list; or the JSON in which it is handed in.
enum SightingBytes: FuzzTarget {
    static let name = "sighting"

    private static let poison: [UInt8] = [
        0x06, 0x0a, 0x2b, 0x06, 0x01, 0x04, 0x01, 0xd6, 0x79, 0x02, 0x04, 0x03,
    ]

    private static let rules: SightingRules = {
        let pin = KnownPin(Pin(kind: .publicKey, hashing: [1]))
        let domains = ["example.com", "api.example.com", "192.0.2.7"].compactMap { try? HostName($0) }.map {
            PinList.Domain(PinnedDomain($0, includeSubdomains: !$0.isAddress, pins: [pin]))
        }
        let time = Timestamp(secondsSince1970: 0)
        return SightingRules(PinList(name: "a", version: 1, issuedAt: time, expiresAt: time, domains: domains))
    }()

    static func check(_ bytes: [UInt8]) {
        if let value = try? JSONValue(strict: bytes, maximumValues: 256), let told = try? ToldCertificate(value) {
            precondition((try? ToldCertificate(told.json)) == told)
            self.checkCertificate(told.certificate)
            precondition(
                SightedIssuers.verified(of: told.certificate, in: told.chain).count
                    <= SightedIssuers.maximumCertificates)
        }
        self.checkCertificate(bytes)
    }

    private static func checkCertificate(_ bytes: [UInt8]) {
        guard let sighted = try? SightedCertificate(bytes) else { return }
        guard let toBeSigned = LoggedCertificateBytes.parts(of: bytes).first else {
            preconditionFailure("no TBSCertificate")
        }
        let rebuilt = LoggedCertificateBytes.rebuilt(
            toBeSigned, without: [LoggedCertificateBytes.identifier, self.poison])
        precondition(sighted.identity == Envelope.digest(of: rebuilt))
        precondition(sighted.notBefore <= sighted.notAfter)
        // No text has characters that a page or a database cannot take.
        precondition(sighted.names.allSatisfy { $0.utf8.count <= 2_048 && !$0.utf8.contains { $0 < 0x20 } })
        let evaluated = self.rules.evaluate(
            names: sighted.names, key: sighted.key, issuers: [], isServed: false, at: sighted.notBefore)
        precondition((evaluated.state == .unlisted) == (evaluated.entry == nil))
        precondition(evaluated.state != .pinned && evaluated.state != .issuer && evaluated.state != .denied)
    }
}
