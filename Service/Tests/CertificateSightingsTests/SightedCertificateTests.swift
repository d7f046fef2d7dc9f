// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CertificateSightings
import Foundation
import PinListMetadata
import Testing

/// Certificates and precertificates that another implementation made, with what it says of them.
struct SightingVectors: Decodable {
    struct Case: Decodable {
        let title, precertificate, certificate, identity, key, serial, issuer: String
        let names, chain, issuers: [String]
    }

    let notBefore, notAfter: String
    let cases: [Case]

    static func load() throws -> SightingVectors {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Vectors/sightings.json")
        return try JSONDecoder().decode(SightingVectors.self, from: Data(contentsOf: file))
    }

    static func bytes(_ text: String) throws -> [UInt8] { try #require(Base64.decode(text.utf8)) }
}

@Suite("A certificate that a monitor found")
struct SightedCertificateTests {
    @Test("a precertificate and its certificate are one, wherever the poison stands, as OpenSSL computes it")
    func precertificateAndItsCertificateAreOneWhereverThePoisonStands() throws {
        let vectors = try SightingVectors.load()
        #expect(vectors.cases.count == 7)
        for one in vectors.cases {
            let before = try SightedCertificate(try SightingVectors.bytes(one.precertificate))
            let after = try SightedCertificate(try SightingVectors.bytes(one.certificate))
            #expect(before.identity == one.identity, "\(one.title)")
            #expect(after.identity == one.identity, "\(one.title)")
            #expect(before.isPrecertificate && !after.isPrecertificate, "\(one.title)")
            for read in [before, after] {
                #expect(read.key.description == one.key, "\(one.title)")
                #expect(read.names == one.names, "\(one.title)")
                #expect(read.serialNumber == one.serial, "\(one.title)")
                #expect(read.issuer == one.issuer, "\(one.title)")
                #expect(read.notBefore.description == vectors.notBefore, "\(one.title)")
                #expect(read.notAfter.description == vectors.notAfter, "\(one.title)")
            }
        }
        // Where the extension stood does not tell two apart; their keys do.
        #expect(Set(vectors.cases.map(\.identity)).count == 3)
    }

    @Test("an issuer counts as far as signatures hold: not one of the same name with another key, nor one further up")
    func issuerCountsAsFarAsSignaturesHold() throws {
        for one in try SightingVectors.load().cases {
            let chain = try one.chain.map { try SightingVectors.bytes($0) }
            for text in [one.precertificate, one.certificate] {
                let certificate = try SightingVectors.bytes(text)
                #expect(
                    SightedIssuers.verified(of: certificate, in: chain).map(\.description) == one.issuers,
                    "\(one.title)")
                #expect(SightedIssuers.verified(of: certificate, in: Array(chain.dropFirst())).isEmpty)
                #expect(SightedIssuers.verified(of: certificate, in: [[], [0x30, 0]] + chain).isEmpty)
                var forged = certificate
                forged[forged.count - 1] ^= 1
                #expect(SightedIssuers.verified(of: forged, in: chain).isEmpty)
            }
        }
    }

    @Test("every certificate that is cut off, or has a byte more, is refused with a reason, and none ends the process")
    func everyCertificateThatIsCutOffOrHasAByteMoreIsRefusedWithAReason() throws {
        let whole = try SightingVectors.bytes(try #require(try SightingVectors.load().cases.first).precertificate)
        for length in 0..<whole.count {
            let error = #expect(throws: SightingError.self) { try SightedCertificate(Array(whole.prefix(length))) }
            #expect(error?.description.isEmpty == false)
        }
        #expect(throws: SightingError.self) { try SightedCertificate(whole + [0]) }
        #expect(throws: SightingError.self) { try SightedCertificate([UInt8](repeating: 0x30, count: 70_000)) }
        // A byte that is another one is read, or refused.
        var read = 0
        for index in whole.indices {
            var changed = whole
            changed[index] ^= 0xff
            if (try? SightedCertificate(changed)) != nil { read += 1 }
        }
        #expect(read > 0 && read < whole.count)
    }

    @Test("a monitor's certificate is read strictly, and written as it is read")
    func monitorsCertificateIsReadStrictlyAndWrittenAsItIsRead() throws {
        func read(_ text: String) throws -> ToldCertificate {
            try ToldCertificate(try JSONValue(strict: Array(text.utf8)))
        }
        let told = try read(
            #"{"der": "AAEC", "chain": ["AwQ="], "log": "https://log.example/\u001b[31m", "loggedAt": "2026-11-21T00:00:00Z", "x": 1}"#
        )
        #expect(told.certificate == [0, 1, 2])
        #expect(told.chain == [[3, 4]])
        #expect(!told.log.contains("\u{1b}"))
        #expect(try ToldCertificate(told.json) == told)
        let bare = try read(#"{"der": "AAEC"}"#)
        #expect(bare.chain.isEmpty && bare.log.isEmpty && bare.loggedAt == nil)
        let many = Array(repeating: "\"AAEC\"", count: 17).joined(separator: ",")
        for text in [
            "{}", "[]", #"{"der": 1}"#, #"{"der": "A?=="}"#, #"{"der": "AAEC", "chain": "AAEC"}"#,
            #"{"der": "AAEC", "chain": [1]}"#, #"{"der": "AAEC", "log": 1}"#, #"{"der": "AAEC", "loggedAt": "today"}"#,
            #"{"der": "AAEC", "loggedAt": 7}"#, "{\"der\": \"AAEC\", \"chain\": [\(many)]}",
        ] {
            #expect(throws: SightingError.self, "\(text)") { try read(text) }
        }
    }
}
