// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import Testing

@testable import PinReportAnalysis

/// Chains that servers of the public web have served, as they would be shown on the dashboard.
@Suite(
    "Reports of chains of the public web",
    .enabled(if: SharedData.holds(SharedData.realChains), "there is no ../shared/data/real-chains beside the checkout"))
struct RealChainReportTests {
    /// A case in x509-limbo's format.
    private struct Chain: Decodable {
        var peerCertificate: String
        var untrustedIntermediates: [String]
        var trustedCertificates: [String]
        /// RFC 3339 in UTC, with a fraction.
        var validationTime: String
        var expectedPeerName: Name

        struct Name: Decodable {
            var value: String
        }

        enum CodingKeys: String, CodingKey {
            case peerCertificate = "peer_certificate"
            case untrustedIntermediates = "untrusted_intermediates"
            case trustedCertificates = "trusted_certs"
            case validationTime = "validation_time"
            case expectedPeerName = "expected_peer_name"
        }

        func certificates() throws -> [[UInt8]] {
            try ([self.peerCertificate] + self.untrustedIntermediates + self.trustedCertificates).map {
                try #require(try PEMBlock.blocks(in: $0.utf8).first).bytes
            }
        }
    }

    @Test("153 of 153: names, validity, pins and issuers can be read; all are public, and none is an interceptor")
    func of153Of153NamesValidityPinsAndIssuersCanBeReadAllArePublic() throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: SharedData.realChains, includingPropertiesForKeys: nil
        ).filter { $0.lastPathComponent.hasSuffix(".limbo.json") }
        #expect(files.count == 153)
        for file in files {
            let chain = try JSONDecoder().decode(Chain.self, from: try Data(contentsOf: file))
            let name = chain.expectedPeerName.value
            let certificates = try chain.certificates()
            let report = try ReportText.report(
                chain: certificates, [("hostname", .string(name)), ("noted-hostname", .string(name))])
            #expect(report.validatedChain == certificates)
            let leaf = try #require(report.leaf)
            let wildcard = "*." + name.split(separator: ".").dropFirst().joined(separator: ".")
            #expect(leaf.names.contains(name) || leaf.names.contains(wildcard) || leaf.hasOtherNames, "\(name)")
            #expect(!leaf.names.isEmpty)
            let notBefore = try #require(leaf.notBefore)
            let notAfter = try #require(leaf.notAfter)
            #expect(notBefore < notAfter)
            let time = try Timestamp(String(chain.validationTime.prefix(19)) + "Z")
            #expect((notBefore...notAfter).contains(time), "\(file.lastPathComponent)")
            #expect(!leaf.isSelfIssued)
            let issuer = try #require(report.issuer)
            #expect(issuer.isNamedAsPublic, "\(issuer.name)")
            #expect(issuer.interceptor == nil, "\(issuer.name)")
            #expect(issuer.pin == (try Pin(publicKeyOf: certificates[1])))
            for (readable, certificate) in zip(report.readableChain, certificates) {
                #expect(readable?.pin == (try Pin(publicKeyOf: certificate)))
                #expect(KnownInterceptor.named(in: readable?.subject ?? "") == nil)
            }
            #expect(try ReportText.report(report.document) == report)
        }
    }

    @Test(
        "the table of authorities has every organisation of Mozilla's root store",
        .enabled(
            if: SharedData.holds(SharedData.mozillaRoots),
            "there is no ../shared/data/roots/mozilla.pem beside the checkout"))
    func tableOfAuthoritiesHasEveryOrganisationOfMozillasRootStore() throws {
        let roots = try PEMBlock.blocks(in: try Data(contentsOf: SharedData.mozillaRoots))
        let subjects = try roots.map { try #require(DistinguishedNameText(subjectOf: $0.bytes)).description }
        #expect(subjects.count > 100)
        #expect(subjects.allSatisfy { KnownInterceptor.named(in: $0) == nil })
        // One of them has no organisation.
        #expect(subjects.filter { !PublicAuthority.isNamed(in: $0) }.allSatisfy { !$0.contains("O=") })
        #expect(subjects.filter { PublicAuthority.isNamed(in: $0) }.count >= subjects.count - 1)
    }
}
