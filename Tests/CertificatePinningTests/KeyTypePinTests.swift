// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Testing

@Suite(
    "Pins of every key type equal openssl's",
    .enabled(if: OpenSSL.installed != nil, "there is no openssl on PATH to compare with"))
struct KeyTypePinTests {
    /// What openssl prints is what it rebuilds from a key it has parsed; our pin is of the bytes as they stand. For a key
    /// written the way openssl writes keys the two are one, and openssl keeps explicit parameters and point forms.
    @Test("a certificate that the key itself signed", arguments: KeyType.signing)
    func certificateThatTheKeyItselfSigned(type: KeyType) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let certificate = try await type.selfSignedCertificate(with: openssl, in: folder)
            let expected = try await openssl.pins(of: [certificate], in: folder)
            let pin = try Pin(publicKeyOf: [UInt8](Data(contentsOf: certificate)))
            #expect(["\(pin)"] == expected.map { "sha256/\($0)" })
        }
    }

    @Test("a certificate for a key that cannot sign", arguments: KeyType.agreeing)
    func certificateForAKeyThatCannotSign(type: KeyType) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await type.makeKey(with: openssl, in: folder)
            for command in [
                "pkey -in key.pem -pubout -out public.pem",
                "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out issuer.pem",
                "req -new -key issuer.pem -subj /CN=api.example.com -out request.pem",
                "x509 -req -in request.pem -signkey issuer.pem -force_pubkey public.pem -outform DER -out certificate.der",
            ] {
                try await openssl.run(command.split(separator: " ").map(String.init), in: folder)
            }
            let certificate = folder.appendingPathComponent("certificate.der")
            let expected = try await openssl.pins(of: [certificate], in: folder)
            let pin = try Pin(publicKeyOf: [UInt8](Data(contentsOf: certificate)))
            #expect(["\(pin)"] == expected.map { "sha256/\($0)" })
        }
    }

    /// Guards the comparison: if openssl wrote the named curve after all, nothing unusual would have been compared.
    @Test(
        "openssl does keep explicit parameters and the form of a point",
        arguments: [
            // The object identifier of prime-field, which a named curve does not mention.
            ("P-256, explicit parameters", [0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x01, 0x01]),
            ("P-256, explicit parameters, compressed point", [0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x01, 0x01]),
            // A BIT STRING of 33 bytes, and of 65 that do not begin with 04.
            ("P-256, compressed point", [0x03, 0x22, 0x00]), ("P-256, hybrid point", [0x03, 0x42, 0x00]),
        ] as [(String, [UInt8])])
    func opensslDoesKeepExplicitParametersAndTheFormOfAPoint(name: String, marker: [UInt8]) async throws {
        let openssl = try #require(OpenSSL.installed)
        let type = try #require(KeyType.signing.first { $0.testDescription == name })
        try await withTemporaryFolder { folder in
            let file = try await type.selfSignedCertificate(with: openssl, in: folder)
            let certificate = [UInt8](try Data(contentsOf: file))
            let key = certificate[try CertificateFields(walking: certificate).subjectPublicKeyInfo]
            let found = try #require(key.indices.first { key[$0...].starts(with: marker) })
            let point = key[found + marker.count]
            #expect(name != "P-256, hybrid point" || point == 0x06 || point == 0x07)
        }
    }

    @Test("one key in two certificates, renewed with another name and serial number, is one pin")
    func oneKeyInTwoCertificatesRenewedWithAnotherNameAndSerialNumberIsOnePin() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            let key = "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -out key.pem"
            try await openssl.run(key.split(separator: " ").map(String.init), in: folder)
            var certificates: [[UInt8]] = []
            for name in ["old", "new"] {
                let request = "req -new -x509 -key key.pem -subj /CN=\(name) -days 30 -outform DER -out \(name).der"
                try await openssl.run(request.split(separator: " ").map(String.init), in: folder)
                certificates.append([UInt8](try Data(contentsOf: folder.appendingPathComponent("\(name).der"))))
            }
            #expect(try Pin(publicKeyOf: certificates[0]) == Pin(publicKeyOf: certificates[1]))
            #expect(
                Pin(kind: .certificate, hashing: certificates[0]) != Pin(kind: .certificate, hashing: certificates[1]))
        }
    }

    @Test("a certificate pin is openssl's SHA-256 fingerprint")
    func certificatePinIsOpensslsSHA256Fingerprint() async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try Data(SampleCertificate.der).write(to: folder.appendingPathComponent("sample.der"))
            let command = "x509 -in sample.der -inform DER -noout -fingerprint -sha256"
            let printed = try await openssl.run(command.split(separator: " ").map(String.init), in: folder)
            let hexadecimal = try #require(printed.split(separator: "=").last).filter(\.isHexDigit)
            let digest = Pin(kind: .certificate, hashing: SampleCertificate.der).digest
            #expect(digest.map { String(format: "%02X", $0) }.joined() == hexadecimal)
        }
    }
}
