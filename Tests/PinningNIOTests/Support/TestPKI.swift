// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import Crypto
import CryptoExtras
import Foundation
import NIOSSL
import SwiftASN1
import X509

/// A server's chain, leaf below intermediate below root, valid around now, and those who could imitate it.
struct TestPKI {
    /// What kind of keys a PKI has.
    enum Keys: String, CaseIterable {
        case p256, rsa2048, ed25519

        func new() throws -> Certificate.PrivateKey {
            switch self {
            case .p256: Certificate.PrivateKey(P256.Signing.PrivateKey())
            case .rsa2048: Certificate.PrivateKey(try _RSA.Signing.PrivateKey(keySize: .bits2048))
            case .ed25519: Certificate.PrivateKey(Curve25519.Signing.PrivateKey())
            }
        }
    }

    let root: TestCertificate
    let intermediate: TestCertificate
    let leaf: TestCertificate

    /// Makes a chain.
    ///
    /// - Parameters:
    ///   - hosts: The names of the leaf.
    ///   - addresses: Its IP addresses, as bytes.
    ///   - keys: Of what kind all keys are.
    init(_ hosts: [String], addresses: [[UInt8]] = [], keys: Keys = .p256, name: String = "test") throws {
        let now = Self.now
        self.root = try .authority("\(name) root", key: keys.new()) { $0.around(now) }
        self.intermediate = try .authority("\(name) issuing", by: self.root, key: keys.new()) { $0.around(now) }
        self.leaf = try Self.leaf(hosts, addresses, by: self.intermediate, key: keys.new())
    }

    /// Another leaf by an authority.
    static func leaf(
        _ hosts: [String], _ addresses: [[UInt8]] = [], by issuer: TestCertificate, key: Certificate.PrivateKey? = nil
    ) throws -> TestCertificate {
        try TestCertificate("server", by: issuer, key: key) { form in
            form.around(Self.now)
            form.names = hosts.map { .dnsName($0) } + addresses.map { .ipAddress(.init(contentBytes: $0[...])) }
            form.keyUsage = KeyUsage(digitalSignature: true)
            form.purposes = [.serverAuth]
        }
    }

    /// The time, by the system's clock: TLS libraries have no other.
    static var now: Int64 { Int64(Date().timeIntervalSince1970) }

    /// What the server presents.
    var chain: [TestCertificate] { [self.leaf, self.intermediate] }

    /// The validated path.
    var path: [TestCertificate] { self.chain + [self.root] }
}

extension TestCertificate.Form {
    /// Valid from a day before to ninety days after a time.
    mutating func around(_ time: Int64) {
        self.notBefore = time - 86_400
        self.notAfter = time + 90 * 86_400
    }
}

extension TestCertificate {
    /// The pin of the public key.
    var pin: Pin { get throws { try Pin(publicKeyOf: self.der) } }

    /// For NIOSSL.
    var nio: NIOSSLCertificate { get throws { try NIOSSLCertificate(bytes: self.der, format: .der) } }

    /// The private key, for NIOSSL.
    var nioKey: NIOSSLPrivateKey {
        get throws { try NIOSSLPrivateKey(bytes: Array(self.key.serializeAsPEM().pemString.utf8), format: .pem) }
    }

    /// The certificate in PEM.
    var pem: String { get throws { try self.certificate.serializeAsPEM().pemString + "\n" } }

    /// The private key in PEM.
    var keyPEM: String { get throws { try self.key.serializeAsPEM().pemString + "\n" } }
}
#endif
