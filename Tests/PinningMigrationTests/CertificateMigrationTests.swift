// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinningMigration
import TestData
import Testing

@Suite("Certificates that an app carries", .enabled(if: OpenSSL.installed != nil, "there is no openssl on PATH"))
struct CertificateMigrationTests {
    /// Makes certificates with openssl, in DER, of different kinds of keys.
    private static func certificates(in folder: URL) async throws -> [(file: URL, pin: String, whole: String)] {
        let openssl = try #require(OpenSSL.installed)
        var files: [URL] = []
        let keys = [
            ["EC", "ec_paramgen_curve:P-256"], ["EC", "ec_paramgen_curve:P-384"], ["RSA", "rsa_keygen_bits:2048"],
        ]
        for (index, key) in keys.enumerated() {
            try await openssl.run(
                ["genpkey", "-algorithm", key[0], "-pkeyopt", key[1], "-out", "key\(index).pem"], in: folder)
            try await openssl.run(
                [
                    "req", "-x509", "-new", "-key", "key\(index).pem", "-subj", "/CN=server \(index)", "-days", "2",
                    "-outform", "DER", "-out", "server\(index).der",
                ], in: folder)
            files.append(folder.appendingPathComponent("server\(index).der"))
        }
        let pins = try await openssl.pins(of: files, in: folder)
        var found: [(URL, String, String)] = []
        for (file, pin) in zip(files, pins) {
            let hex = try await openssl.run(["dgst", "-sha256", "-r", file.lastPathComponent], in: folder).prefix(64)
            let digest = stride(from: 0, to: 64, by: 2).compactMap { offset in
                UInt8(hex.dropFirst(offset).prefix(2), radix: 16)
            }
            found.append((file, "sha256/\(pin)", "cert-sha256/\(Base64.encode(digest))"))
        }
        return found
    }

    @Test(
        "a dictionary of hosts, as Alamofire's evaluators have it: the pins are openssl's, of keys or of certificates")
    func dictionaryOfHostsAsAlamofiresEvaluatorsHaveItThePinsAreOpenssls() async throws {
        try await withTemporaryFolder { folder in
            let made = try await Self.certificates(in: folder)
            let bytes = try made.map { try Data(contentsOf: $0.file) }
            let keys = try MigratedPins(certificates: [
                "API.example.com": bytes, "other.example.com": [bytes[0], bytes[1]],
            ])
            #expect(try keys.entry("api.example.com")?.written == made.map { "any \($0.pin)" })
            #expect(try keys.entry("other.example.com")?.pins.count == 2)
            #expect(keys.domains.allSatisfy { $0.mode == .enforce && !$0.includeSubdomains } && keys.warnings.isEmpty)
            let whole = try MigratedPins(
                certificates: ["api.example.com": bytes.map { Array($0) }], pinning: .certificate,
                includeSubdomains: true)
            #expect(whole.domains[0].written == made.map { "any \($0.whole)" })
            #expect(whole.domains[0].includeSubdomains)
        }
    }

    @Test("PEM where DER is expected, text around it, a damaged file, none at all: what is lost is named")
    func pemWhereDERIsExpectedTextAroundItADamagedFileNoneAtAllWhatIsLostIsNamed() async throws {
        try await withTemporaryFolder { folder in
            let made = try await Self.certificates(in: folder)
            let bytes = try made.map { Array(try Data(contentsOf: $0.file)) }
            let pem = bytes.prefix(2).map { PEMBlock(label: "CERTIFICATE", bytes: $0).text }.joined()
            let shown = "0 s:CN = server\n   i:CN = server\n" + pem
            let migrated = try MigratedPins(certificates: ["a.example.com": [Array(pem.utf8), Array(shown.utf8)]])
            #expect(migrated.domains[0].written == made.prefix(2).map { "any \($0.pin)" } && migrated.warnings.isEmpty)

            let key = Array("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n".utf8)
            let broken = [
                Array(bytes[0].dropLast()), [], [0x30], key, Array("text".utf8), Array(pem.utf8.dropLast(40)),
            ]
            let part = try MigratedPins(certificates: ["a.example.com": broken + [bytes[2]]])
            #expect(part.domains[0].written == ["any \(made[2].pin)"])
            #expect(part.warnings.count { $0.effect == .stricter } == 6, "\(part.warnings)")
            #expect(part.warnings.last?.message.contains("no backup") == true)

            let none = try MigratedPins(certificates: ["a.example.com": [[UInt8]]()])
            #expect(none.domains[0].pins.isEmpty && none.warned == ["certificates stricter"])
            let large = try MigratedPins(certificates: ["a.example.com": [[UInt8](repeating: 0x30, count: 2_000_000)]])
            #expect(large.domains[0].pins.isEmpty)
        }
    }

    @Test("all certificates of a bundle, with names in any case, as AFNetworking found them")
    func allCertificatesOfABundleWithNamesInAnyCaseAsAFNetworkingFoundThem() async throws {
        try await withTemporaryFolder { folder in
            let made = try await Self.certificates(in: folder)
            let resources = folder.appendingPathComponent("App.bundle", isDirectory: true)
            try FileManager.default.createDirectory(at: resources, withIntermediateDirectories: true)
            let names = ["a.cer", "b.CRT", "c.der"]
            for (name, certificate) in zip(names, made) {
                try FileManager.default.copyItem(at: certificate.file, to: resources.appendingPathComponent(name))
            }
            try Data("no certificate".utf8).write(to: resources.appendingPathComponent("d.txt"))
            let bundle = try #require(Bundle(path: resources.path))

            let all = try MigratedPins(bundledCertificates: bundle, for: ["api.example.com", "www.example.com"])
            #expect(all.warnings.isEmpty, "\(all.warnings)")
            #expect(all.domains.count == 2)
            for entry in all.domains { #expect(entry.written == made.map { "any \($0.pin)" }) }
            let named = try MigratedPins(
                bundledCertificates: bundle, named: ["api.example.com": ["a.cer", "b.CRT"]], pinning: .certificate)
            #expect(named.domains[0].written == made.prefix(2).map { "any \($0.whole)" })

            #expect(throws: MigrationError(.file, "", hint: "")) {
                try MigratedPins(bundledCertificates: bundle, named: ["api.example.com": ["missing.cer"]])
            }
            let empty = folder.appendingPathComponent("Empty.bundle", isDirectory: true)
            try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: true)
            #expect(throws: MigrationError(.file, "", hint: "")) {
                try MigratedPins(bundledCertificates: try #require(Bundle(path: empty.path)), for: ["api.example.com"])
            }
        }
    }

    @Test(
        "TrustKit's own certificates, among them keys for which it has no header",
        .enabled(if: SharedData.holds(SharedData.trustKit), "../shared/data/trustkit is not beside the checkout"))
    func trustKitsOwnCertificatesAmongThemKeysForWhichItHasNoHeader() async throws {
        let openssl = try #require(OpenSSL.installed)
        let files = [
            "RSA_2048/GlobalSignRootCA.der", "RSA_4096/www.good.com.der", "ECDSA_sec256r1/www.cloudflare.com.der",
            "ECDSA_sec384r1/GeoTrust_Primary_CA_G2_ECC.der", "rsa3072.der",
        ].map { SharedData.trustKit.appendingPathComponent($0) }
        try await withTemporaryFolder { folder in
            let expected = try await openssl.pins(of: files, in: folder)
            let migrated = try MigratedPins(certificates: ["a.example.com": try files.map { try Data(contentsOf: $0) }])
            #expect(migrated.domains[0].written == expected.map { "any sha256/\($0)" })
        }
    }
}
