// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import Foundation
@testable import PathValidation
import TestData
import Testing

/// Revocation lists that others made for their own validators: the prefix of a file's name says what is in it.
@Suite(
    "Revocation lists of BoringSSL and webpki",
    .enabled(if: SharedData.holds(SharedData.revocation), "../shared/data/revocation is not beside the checkout"))
struct RevocationVectorTests {
    /// What BoringSSL refuses because of the certificate or its issuer: the lists themselves are well formed.
    private static let wellFormed: Set<String> = [
        "invalid_idp_onlycontainsusercerts_v1_leaf", "invalid_issuer_keyusage_no_crlsign",
        "invalid_key_rollover_issuer_keyusage_no_crlsign",
    ]

    @Test("BoringSSL's lists are read or refused as their names say, and have an entry where they revoke")
    func boringSSLsListsAreReadOrRefusedAsTheirNamesSayAndHaveAnEntryWhereTheyRevoke() throws {
        let folder = SharedData.revocation.appendingPathComponent("boringssl-crl", isDirectory: true)
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "pem" }
        #expect(files.count == 66)
        for file in files {
            let name = file.deletingPathExtension().lastPathComponent
            let blocks = try PEMBlock.blocks(in: try Data(contentsOf: file))
            func bytes(_ label: String) throws -> [UInt8] { try #require(blocks.first { $0.label == label }).bytes }
            let list = try? RevocationList(try bytes("CRL"))
            #expect((list == nil) == (name.hasPrefix("invalid_") && !Self.wellFormed.contains(name)), "\(name)")
            // The keys have 1,024 bits, which no path may have here: signatures are the business of the other tests.
            guard let list, name.hasPrefix("good") || name.hasPrefix("revoked") else { continue }
            let certificate = try bytes("CERTIFICATE")
            let serial = certificate[try CertificateFields(walking: certificate).serialNumber]
            #expect((list.revocation(of: serial) != nil) == name.hasPrefix("revoked"), "\(name)")
            #expect(list.scope.obstacle == nil, "\(name)")
        }
    }

    /// The lists that webpki's own reader takes.
    private static let accepted: Set<String> = [
        "crl.empty", "crl.entry.empty.ext.seq", "crl.entry.invalidity.date", "crl.idp.only_ca_certs",
        "crl.idp.only_user_certs", "crl.idp.valid", "crl.negative.serial", "crl.no.entry.exts", "crl.topbit.serial",
        "crl.valid",
    ]

    /// What becomes here of the lists that it refuses: one that covers nothing was read. Those that cover certificates are
    /// in docs/revocation-exceptions.md.
    private static let refused: [String: String] = [
        "crl.delta": "nothing", "crl.entry.issuer.ext": "nothing", "crl.entry.unknown.crit.ext": "nothing",
        "crl.idp.indirect_crl": "nothing", "crl.idp.name_relative_to_issuer": "nothing",
        "crl.idp.only_attribute_certs": "nothing", "crl.idp.only_some_reasons": "nothing",
        "crl.unknown.crit.ext": "nothing",
        "crl.idp.explicit.false.bool": "refused", "crl.idp.invalid.bool": "refused",
        "crl.idp.invalid.name": "refused", "crl.idp.unknown.tag": "refused",
        "crl.mismatched.sigalg": "refused",
        "crl.wrong.version": "refused",
    ]

    @Test(
        "webpki's lists are read, cover nothing, or are refused, as by webpki or as docs/revocation-exceptions.md says")
    func webpkisListsAreReadCoverNothingOrAreRefusedAsByWebpkiOrAsThePageSays() throws {
        let exceptions = try ExceptionTable(below: "webpki").rows
        #expect(exceptions.count == 7 && exceptions.values.allSatisfy { $0.named == "refused" && !$0.reason.isEmpty })
        var expected = exceptions.mapValues(\.answer)
        expected.merge(Self.refused) { page, _ in "\(page), and it has no row to need" }
        expected.merge(Self.accepted.map { ($0, "covers") }) { page, _ in "\(page), as by webpki" }
        let folder = SharedData.revocation.appendingPathComponent("webpki-crls", isDirectory: true)
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "der" }
        #expect(files.count == expected.count)
        for file in files {
            let name = file.deletingPathExtension().lastPathComponent
            let answer: String
            if let list = try? RevocationList(Array(try Data(contentsOf: file))) {
                answer = list.scope.obstacle == nil ? "covers" : "nothing"
            } else {
                answer = "refused"
            }
            #expect(answer == expected[name], "\(name)")
        }
    }

    @Test("webpki's list of a revoked certificate has it, and a CA without cRLSign may not sign lists")
    func webpkisListOfARevokedCertificateHasItAndACAWithoutCRLSignMayNotSignLists() throws {
        let folder = SharedData.revocation.appendingPathComponent("webpki-client-auth-revocation", isDirectory: true)
        func bytes(_ name: String) throws -> [UInt8] {
            Array(try Data(contentsOf: folder.appendingPathComponent("\(name).der")))
        }
        let list = try RevocationList(try bytes("ee_revoked_crl_ku_ee_depth.crl"))
        for (name, isRevoked) in [("ku_chain.ee", true), ("no_ku_chain.ee", false), ("no_crl_ku_chain.ee", false)] {
            let certificate = try CandidateCertificate(try bytes(name))
            let serial = certificate.der[certificate.fields.serialNumber]
            #expect((list.revocation(of: serial)?.reason == "keyCompromise") == isRevoked, "\(name)")
            #expect((list.issuer == certificate.issuer) == isRevoked, "\(name)")
        }
        let mute = try CandidateCertificate(try bytes("no_crl_ku_chain.int.a.ca"))
        #expect(!mute.maySignRevocationLists)
    }

    @Test(
        "a distribution point of another issuer, for some reasons, without a name or with a relative one does not count",
        arguments: [
            ("ee_indirect_dp_unknown_status", "indirect_dp_chain"), ("ee_dp_invalid", "invalid_dp_chain"),
            ("ee_nofullname_dp_unknown_status", "nofullname_dp_chain"),
            ("ee_reasons_dp_unknown_status", "reasons_dp_chain"),
        ])
    func distributionPointOfAnotherIssuerForSomeReasonsWithoutANameOrWithARelativeOne(
        list: String, chain: String
    ) async throws {
        let folder = SharedData.revocation.appendingPathComponent("webpki-client-auth-revocation", isDirectory: true)
        func bytes(_ name: String) throws -> [UInt8] {
            Array(try Data(contentsOf: folder.appendingPathComponent("\(name).der")))
        }
        let lists = try RevocationLists([try bytes("\(list).crl")])
        let status = try await lists.status(
            of: try bytes("\(chain).ee"), issuedBy: try bytes("\(chain).int.a.ca"),
            at: Timestamp(secondsSince1970: 0x1fed_f00d))
        guard case .unknown = status else {
            Issue.record("\(status)")
            return
        }
    }
}
#endif
