// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import Foundation
@testable import PathValidation
import TestData
import Testing
import X509

/// BoringSSL's revocation lists with their certificates: the prefix of a file's name says what follows from it.
///
/// The keys have 1,024 bits, which no path may have here. So certificates and lists are signed anew, by other keys, and
/// nothing else of them changes. Whose key had signed a list is what openssl says of it.
@Suite(
    "BoringSSL's revocation lists with their certificates",
    .enabled(if: SharedData.holds(SharedData.revocation), "../shared/data/revocation is not beside the checkout"))
struct RevocationLabelTests {
    /// The time of BoringSSL's own tests: seven days after most lists, but for eleven minutes.
    private static let time = "2017-03-09T00:00:00Z"

    /// What a name says, by its prefix.
    private static let expected = ["good": "good", "revoked": "revoked", "bad": "unknown", "invalid": "refused"]

    /// Lists that the issuer's key did not sign.
    private static let strange: Set<String> = [
        "bad_signature", "bad_key_rollover_signature", "good_key_rollover", "revoked_key_rollover",
        "invalid_key_rollover_issuer_keyusage_no_crlsign",
    ]

    @Test("each is good, revoked, unknown or refused as its name says, or as docs/revocation-exceptions.md does")
    func eachIsGoodRevokedUnknownOrRefusedAsItsNameSays() async throws {
        let folder = SharedData.revocation.appendingPathComponent("boringssl-crl", isDirectory: true)
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "pem" }
        #expect(files.count == 66)
        let exceptions = try ExceptionTable(below: "BoringSSL").rows
        var seen: Set<String> = []
        for file in files {
            let name = file.deletingPathExtension().lastPathComponent
            let answer = try await Self.answer(to: try PEMBlock.blocks(in: try Data(contentsOf: file)), name)
            let prefix = String(name.prefix { $0 != "_" })
            if let exception = exceptions[name] {
                seen.insert(name)
                #expect(answer == exception.answer && answer != Self.expected[prefix], "\(name): \(exception.reason)")
                #expect(exception.named == Self.expected[prefix] && !exception.reason.isEmpty, "\(name)")
            } else {
                #expect(answer == Self.expected[prefix], "\(name)")
            }
        }
        #expect(seen == Set(exceptions.keys) && seen.count == 8)
    }

    private static func answer(to blocks: [PEMBlock], _ name: String) async throws -> String {
        func bytes(_ label: String) throws -> [UInt8] { try #require(blocks.first { $0.label == label }).bytes }
        let list = try bytes("CRL")
        guard (try? RevocationLists([list])) != nil else { return "refused" }
        let ca = try TestCertificate.authority("CA")
        let stranger = try TestCertificate.authority("stranger")
        let server = try TestCertificate.authority("server")
        let lists = try RevocationLists([
            try self.list(list, signedBy: self.strange.contains(name) ? stranger : ca)
        ])
        let status = try await lists.status(
            of: try self.certificate(try bytes("CERTIFICATE"), key: server, signedBy: ca),
            issuedBy: try self.certificate(try bytes("CA CERTIFICATE"), key: ca, signedBy: stranger),
            at: try Timestamp(self.time))
        return switch status {
        case .good: "good"
        case .revoked: "revoked"
        case .unknown: "unknown"
        }
    }

    /// A certificate with another key, signed by another one.
    private static func certificate(
        _ der: [UInt8], key: TestCertificate, signedBy signer: TestCertificate
    ) throws -> [UInt8] {
        try self.signed(der, by: signer) { fields in
            // Version 1 is not written.
            let shift = fields[0].first == 0xa0 ? 0 : -1
            fields[TestCertificate.Field.signature.rawValue + shift] = TestRevocationList.algorithm
            let own = DERParts.elements(within: DERParts.elements(within: key.der)[0])
            fields[TestCertificate.Field.publicKey.rawValue + shift] = own[TestCertificate.Field.publicKey.rawValue]
        }
    }

    /// A list, signed by another key.
    private static func list(_ der: [UInt8], signedBy signer: TestCertificate) throws -> [UInt8] {
        try self.signed(der, by: signer) { fields in
            fields[fields[0].first == 0x02 ? 1 : 0] = TestRevocationList.algorithm
        }
    }

    private static func signed(
        _ der: [UInt8], by signer: TestCertificate, _ change: (inout [[UInt8]]) -> Void
    ) throws -> [UInt8] {
        var fields = DERParts.elements(within: DERParts.elements(within: der)[0])
        change(&fields)
        let toBeSigned = DERParts.sequence(fields)
        let signature = try signer.key.sign(bytes: toBeSigned, signatureAlgorithm: .ecdsaWithSHA256)
        return DERParts.sequence([
            toBeSigned, TestRevocationList.algorithm, DERParts.element(0x03, [0] + signature.rawRepresentation),
        ])
    }
}
#endif
