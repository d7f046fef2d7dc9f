// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import CryptoExtras
internal import Foundation
internal import SwiftASN1
internal import X509

/// A certificate request (RFC 2986) for a key whose certificate is not there yet: a backup whose pin goes out first.
public struct CertificateRequest: Sendable {
    /// The maximum number of names that are asked for: Let's Encrypt puts up to 100 into one certificate.
    public static let maximumNames = 100

    /// The request as PEM.
    public let text: String

    /// Makes a request, signed by its key.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - subject: The subject (RFC 4514): `CN=api.example.com,O=Example`.
    ///   - names: DNS names, perhaps with a wildcard, and IP addresses, for the subjectAltName.
    /// - Throws: ``RepositoryError`` for a subject or a name that is none, and for a key of ML-DSA: swift-certificates
    ///   makes no requests with it.
    public init(for key: PrivateKey, subject: String, names: [String]) throws(RepositoryError) {
        guard (1...Self.maximumNames).contains(names.count) else {
            throw RepositoryError(
                .usage, "a request is for 1 to \(Self.maximumNames) names", hint: "--dns api.example.com")
        }
        guard let (certificateKey, algorithm) = key.certificateKey else {
            throw RepositoryError(
                .metadata, "a request cannot be made for a key of \(key.kind)",
                hint: "openssl req -new -key KEY makes one, from openssl 3.5 on")
        }
        let subject = try SubjectName(subject)
        var general: [GeneralName] = []
        for name in names { general.append(try Self.name(name)) }
        do {
            let extensions = try Certificate.Extensions { SubjectAlternativeNames(general) }
            let attribute = try CertificateSigningRequest.Attribute(ExtensionRequest(extensions: extensions))
            let request = try CertificateSigningRequest(
                version: .v1, subject: try subject.name, privateKey: certificateKey,
                attributes: CertificateSigningRequest.Attributes([attribute]),
                signatureAlgorithm: algorithm)
            var serializer = DER.Serializer()
            try serializer.serialize(request)
            self.text = PEMBlock(label: "CERTIFICATE REQUEST", bytes: serializer.serializedBytes).text
        } catch {
            throw RepositoryError(.metadata, "the request cannot be made: \(error)")
        }
    }

    private static func name(_ text: String) throws(RepositoryError) -> GeneralName {
        let isWildcard = text.hasPrefix("*.")
        let host: HostName
        do { host = try HostName(isWildcard ? String(text.dropFirst(2)) : text) } catch {
            throw RepositoryError(.usage, "--dns \(text): \(error)", hint: "names in ASCII: xn-- for all others")
        }
        guard host.isAddress else { return .dnsName(isWildcard ? "*.\(host)" : "\(host)") }
        guard !isWildcard, let bytes = self.bytes(ofAddress: "\(host)") else {
            throw RepositoryError(.usage, "--dns \(text): no name")
        }
        return .ipAddress(ASN1OctetString(contentBytes: bytes[...]))
    }

    private static func bytes(ofAddress text: String) -> [UInt8]? {
        let bare = text.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        var four = in_addr()
        if inet_pton(AF_INET, bare, &four) == 1 { return withUnsafeBytes(of: &four) { Array($0) } }
        var six = in6_addr()
        if inet_pton(AF_INET6, bare, &six) == 1 { return withUnsafeBytes(of: &six) { Array($0) } }
        return nil
    }
}

extension CertificateRequest {
    /// Refuses a file that has the pin of another key: a source may take it from there (`csr:`, `cert:`, `publicKey:`), and
    /// would lose the pin of a key that is served. A private key is refused where files are written.
    ///
    /// - Parameters:
    ///   - path: The file that is to be written.
    ///   - key: The key whose request it is to hold.
    /// - Throws: ``RepositoryError`` of the code `file`.
    package static func expectPlace(at path: String, for key: PrivateKey) throws(RepositoryError) {
        var status = stat()
        // A pipe is not read: it would wait for a writer.
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            let bytes = try? BoundedFile.read(path, maximum: SourceMaterial.maximumLength),
            let held = try? PinnedMaterial.all(in: bytes, named: path)
        else { return }
        let own = Pin(kind: .publicKey, hashing: key.subjectPublicKeyInfo)
        guard let other = held.first(where: { $0.kind != .privateKey && $0.pin != own }) else { return }
        let what =
            switch other.kind {
            case .certificate: "a certificate"
            case .request: "a request"
            default: "the public key"
            }
        throw RepositoryError(
            .file, "\(path) holds \(what) of another key, \(other.pin), and is never overwritten",
            hint: "choose another name, such as one with the date: tumbler.yaml may take a pin from that file")
    }
}

extension PrivateKey {
    /// The key as swift-certificates has it, and how it signs; `nil` for a kind that it does not know.
    fileprivate var certificateKey: (Certificate.PrivateKey, Certificate.SignatureAlgorithm)? {
        switch self.material {
        case .p256(let key): (Certificate.PrivateKey(key), .ecdsaWithSHA256)
        case .p384(let key): (Certificate.PrivateKey(key), .ecdsaWithSHA384)
        case .ed25519(let key): (Certificate.PrivateKey(key), .ed25519)
        case .rsa(let key): (Certificate.PrivateKey(key), .sha256WithRSAEncryption)
        case .mlDSA65: nil
        }
    }
}
