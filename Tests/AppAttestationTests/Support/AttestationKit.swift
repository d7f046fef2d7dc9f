// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import Crypto
import Foundation
import X509

/// Apple's part and the device's, for tests: attestations and assertions under a root of its own, in the form that real
/// devices write. Nothing of the verifier is used to make them.
struct AttestationKit {
    static let appID = "ABCDE12345.com.example.app"
    static let challenge = Array("a challenge".utf8)
    /// A Mac's key policy, as Apple publishes it.
    static let macKeyPolicy = Array(
        Data(base64Encoded: "MEAMAjExMDowCQwCb2uhAwEB/zAJDAJvYaEDAQH/MAsMBG9kZWyhAwEB/zAVDARvc2duoAYMBHJzZWMwBaYDAgEB")
            ?? Data())

    let root: KitCertificate
    let intermediate: KitCertificate
    /// Any point: a compact key is searched for, and the benchmark would count a search of random length.
    let deviceKey = P256.Signing.PrivateKey(compactRepresentable: false)

    /// What a test may want different of an attestation.
    struct Form {
        var idHash = Array(SHA256.hash(data: Data(AttestationKit.appID.utf8)))
        var flags: UInt8 = 0x40
        var counter: [UInt8] = [0, 0, 0, 0]
        var aaguid = Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)
        var credentialID: [UInt8]
        var coseKey: [UInt8]
        /// The map behind the COSE key, if there is one.
        var extensions: [UInt8] = []
        /// All authenticator data, in place of what is made of the above.
        var authenticatorData: [UInt8]?
        var clientDataHash = Array(SHA256.hash(data: AttestationKit.challenge))
        var nonceExtension: ([UInt8]) -> [UInt8] = { [0x30, 0x24, 0xa1, 0x22, 0x04, 0x20] + $0 }
        /// The contents of 8.6, in its wrapping.
        var keyPolicy: [UInt8]?
        /// The platform in 8.7.
        var platform: String?
        var otherExtensions: [Certificate.Extension] = []
        var isAuthority = false
        var lifetime: Int64 = 86_400
        var leafKey: Certificate.PrivateKey
        var certificates: (_ leaf: [UInt8], _ intermediate: [UInt8]) -> [[UInt8]] = { [$0, $1] }
        var format = "apple-appattest"
        var receipt: [UInt8] = [0x30, 0x80, 0, 0]
    }

    init() throws {
        self.root = try KitCertificate.authority("Kit Root")
        self.intermediate = try KitCertificate.authority("Kit CA 1", by: self.root)
    }

    /// The key as an uncompressed point.
    var point: [UInt8] { Array(self.deviceKey.publicKey.x963Representation) }

    /// The key id.
    var keyID: [UInt8] { Array(SHA256.hash(data: self.point)) }

    /// The two values that iOS 27 writes, in its order.
    static func extensions(category: [UInt8], version: String = "1") -> [UInt8] {
        CBOREncoding.map([
            ("apple_bundle_version_01", CBOREncoding.text(version)),
            ("apple_validation_category_01", CBOREncoding.bytes(category)),
        ])
    }

    /// A key as COSE writes it.
    static func coseKey(_ point: [UInt8]) -> [UInt8] {
        [0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21] + CBOREncoding.bytes(Array(point[1..<33])) + [0x22]
            + CBOREncoding.bytes(Array(point[33..<65]))
    }

    /// Makes an attestation.
    func attestation(_ change: (inout Form) -> Void = { _ in }) throws -> [UInt8] {
        var form = Form(
            credentialID: self.keyID, coseKey: Self.coseKey(self.point),
            leafKey: Certificate.PrivateKey(self.deviceKey))
        change(&form)
        let data =
            form.authenticatorData
            ?? form.idHash + [form.flags] + form.counter + form.aaguid
            + [UInt8(form.credentialID.count >> 8), UInt8(form.credentialID.count & 0xff)] + form.credentialID
            + form.coseKey + form.extensions
        let nonce = Array(SHA256.hash(data: data + form.clientDataHash))
        let leaf = try KitCertificate(
            "key", key: form.leafKey, by: self.intermediate, extensions: self.extensions(of: form, nonce),
            lifetime: form.lifetime)
        let statement = CBOREncoding.map([
            (
                "x5c",
                CBOREncoding.array(form.certificates(leaf.der, self.intermediate.der).map(CBOREncoding.bytes))
            ),
            ("receipt", CBOREncoding.bytes(form.receipt)),
        ])
        return CBOREncoding.map([
            ("fmt", CBOREncoding.text(form.format)), ("attStmt", statement), ("authData", CBOREncoding.bytes(data)),
        ])
    }

    private func extensions(of form: Form, _ nonce: [UInt8]) throws -> [Certificate.Extension] {
        var extensions = [
            try Certificate.Extension(
                form.isAuthority
                    ? BasicConstraints.isCertificateAuthority(maxPathLength: nil)
                    : BasicConstraints.notCertificateAuthority,
                critical: true),
            appleExtension([8, 2], form.nonceExtension(nonce)),
        ]
        if let policy = form.keyPolicy { extensions.append(appleExtension([8, 6], policy)) }
        if let platform = form.platform {
            let name = ASN1Encoding.element(0x04, Array(platform.utf8))
            let tagged = [0xbf, 0x88, 0x02, UInt8(name.count)] + name
            extensions.append(appleExtension([8, 7], ASN1Encoding.sequence(tagged)))
        }
        return extensions + form.otherExtensions
    }

    /// Makes an assertion over a request.
    func assertion(
        _ clientData: [UInt8], counter: UInt8 = 1, appID: String = Self.appID, extensions: [UInt8] = [],
        by key: P256.Signing.PrivateKey? = nil, hashesTwice: Bool = true, authenticatorData: [UInt8]? = nil
    ) throws -> [UInt8] {
        let data =
            authenticatorData
            ?? Array(SHA256.hash(data: Data(appID.utf8))) + [0x40, 0, 0, 0, counter] + extensions
        let nonce = SHA256.hash(data: data + Array(SHA256.hash(data: clientData)))
        let key = key ?? self.deviceKey
        let signature = try hashesTwice ? key.signature(for: Data(nonce)) : key.signature(for: nonce)
        return CBOREncoding.map([
            ("signature", CBOREncoding.bytes(Array(signature.derRepresentation))),
            ("authenticatorData", CBOREncoding.bytes(data)),
        ])
    }
}
#endif
