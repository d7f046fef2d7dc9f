// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import SwiftASN1
import X509

/// Something that has a pin, and what to say of it.
struct PinnedMaterial: Encodable {
    /// What it is.
    enum Kind: String, Encodable {
        case certificate
        case publicKey = "public-key"
        case privateKey = "private-key"
        case request
    }

    let pin: Pin
    let kind: Kind
    /// The input that it is from, as it was named.
    let source: String
    /// Where a certificate may stand in a path; `nil` for keys and requests.
    let position: KnownPin.Position?
    /// The subject of a certificate or a request.
    let subject: String?
    /// The kind of key, such as `RSA 2048`.
    let algorithm: String
    /// The first and the last second of a certificate's validity.
    let notBefore: Timestamp?
    let notAfter: Timestamp?

    /// A key or a request.
    init(_ kind: Kind, subjectPublicKeyInfo: [UInt8], subject: String? = nil, source: String) {
        self.pin = Pin(kind: .publicKey, hashing: subjectPublicKeyInfo)
        self.kind = kind
        self.source = source
        self.position = nil
        self.subject = subject
        self.algorithm = KeyAlgorithm.name(ofSubjectPublicKeyInfo: subjectPublicKeyInfo)
        self.notBefore = nil
        self.notAfter = nil
    }

    /// A certificate.
    ///
    /// - Parameters:
    ///   - certificate: DER.
    ///   - index: Its place among those of the same source.
    ///   - source: The input that it is from.
    /// - Throws: What is wrong with it.
    init(certificate: [UInt8], index: Int, source: String) throws(CertificateDefect) {
        let fields = try CertificateFields(walking: certificate)
        self.pin = try Pin(publicKeyOf: certificate)
        self.kind = .certificate
        self.source = source
        self.subject = DistinguishedNameText(fields.subject, of: certificate).description
        self.algorithm = KeyAlgorithm.name(ofSubjectPublicKeyInfo: Array(certificate[fields.subjectPublicKeyInfo]))
        (self.notBefore, self.notAfter) = CertificateValidity.read(certificate[fields.validity])
        // Where the parser does not know the key, the place among the others is the best that can be said.
        let parsed = try? Certificate(derEncoded: certificate)
        let isAuthority: Bool
        switch parsed.map({ try? $0.extensions.basicConstraints }) {
        case .some(.some(.isCertificateAuthority)): isAuthority = true
        case .some: isAuthority = false
        case nil: isAuthority = index > 0
        }
        self.position = isAuthority ? .issuer : .leaf
    }

    /// The pin, then the subject or the kind of key.
    var line: String { "\(self.pin) \(self.label)" }

    /// A line under `pins:` of an entry in `tumbler.yaml`. JSON's strings are YAML's.
    var yamlLine: String {
        let note = (try? JSONOutput.line(self.label)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
        return "          - {pin: \"\(self.pin)\", note: \(note)}"
    }

    private var label: String {
        if let subject, !subject.isEmpty { return subject }
        return self.kind == .certificate ? "(no subject) \(self.algorithm)" : "\(self.algorithm) \(self.kind.rawValue)"
    }

    private enum CodingKeys: CodingKey {
        case pin, kind, source, position, subject, algorithm, notBefore, notAfter
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.pin.description, forKey: .pin)
        try container.encode(self.kind, forKey: .kind)
        try container.encode(self.source, forKey: .source)
        try container.encode(self.position?.rawValue, forKey: .position)
        try container.encode(self.subject, forKey: .subject)
        try container.encode(self.algorithm, forKey: .algorithm)
        try container.encode(self.notBefore?.description, forKey: .notBefore)
        try container.encode(self.notAfter?.description, forKey: .notAfter)
    }
}
