// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
import Crypto
import CryptoExtras
import SwiftASN1
import X509

/// The CA that plays the man in the middle, and all that it issues. Its key is made for one run, and never written.
struct InterceptorAuthority: Sendable {
    private static let day: Int64 = 86_400
    /// The time by which its certificates begin before the run, for devices whose clock is late.
    private static let secondsBefore = day
    /// The time by which the CA outlasts the run, in seconds: it may have been installed on a device and forgotten.
    private static let secondsAfter = 7 * day
    /// The time by which a server's certificate outlasts the run, in seconds.
    private static let leafSecondsAfter = 2 * day

    /// The CA whose certificate `--ca-out` writes.
    let trusted: InterceptorCertificate
    private let server: InterceptedServer
    private let time: Int64

    /// Makes the CA. RSA, because what is signed with SHA-1 is signed with RSA.
    init(for server: InterceptedServer, at time: Timestamp) throws {
        self.server = server
        self.time = time.secondsSince1970
        self.trusted = try Self.authority("Tumbler test interceptor (for tests only)", at: self.time)
    }

    private static func authority(
        _ name: String, at time: Int64, by issuer: InterceptorCertificate? = nil, constraints: [String] = []
    ) throws -> InterceptorCertificate {
        var form = InterceptorCertificate.Form(
            names: [], subject: try DistinguishedName { CommonName(name) }, notBefore: time - Self.secondsBefore,
            notAfter: time + Self.secondsAfter)
        form.isAuthority = true
        form.usage = KeyUsage(keyCertSign: true, cRLSign: true)
        form.purposes = []
        form.constraints = constraints
        let key = Certificate.PrivateKey(try _RSA.Signing.PrivateKey(keySize: .bits2048))
        return try InterceptorCertificate(form, by: issuer, key: key)
    }

    /// Returns the certificates and the key that a case presents.
    ///
    /// - Throws: ``InterceptionError`` when what it needs is not there.
    func identity(for presented: InterceptionCase.Presented) throws -> InterceptorIdentity {
        switch presented {
        case .trustedAuthority: return try self.issued()
        case .untrustedAuthority:
            // Made only where it is played: a key of RSA takes as long as all other certificates together.
            let untrusted = try Self.authority("Tumbler test interceptor, not trusted", at: self.time)
            return try InterceptorIdentity(try InterceptorCertificate(try self.form(), by: untrusted))
        case .selfSigned: return try InterceptorIdentity(try InterceptorCertificate(try self.form(), by: nil))
        case .wrongHost:
            return try self.issued { form in
                form.names = [.dnsName("wrong.invalid")]
                form.subject = try DistinguishedName { CommonName("wrong.invalid") }
            }
        case .expired:
            return try self.issued { form in
                form.notBefore = self.time - 90 * Self.day
                form.notAfter = self.time - Self.day
            }
        case .notYetValid: return try self.issued { $0.notBefore = self.time + Self.day }
        case .sha1: return try self.issued { $0.signature = .sha1WithRSAEncryption }
        case .rsa1024:
            let key = try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: 1_024))
            return try self.issued(key: Certificate.PrivateKey(key))
        case .clientPurpose: return try self.issued { $0.purposes = [.clientAuth] }
        case .authorityItself:
            return try self.issued { form in
                form.isAuthority = true
                form.usage = KeyUsage(digitalSignature: true, keyCertSign: true, cRLSign: true)
            }
        case .twoNames: return try self.issued { $0.names.append(.dnsName(InterceptionBench.secondName)) }
        case .outsideConstraints:
            let constrained = try Self.authority(
                "Tumbler test interceptor for others", at: self.time, by: self.trusted,
                constraints: ["constrained.invalid"])
            return try InterceptorIdentity(
                try InterceptorCertificate(try self.form(), by: constrained), [constrained.der])
        case .appended:
            let leaf = try InterceptorCertificate(try self.form(), by: self.trusted)
            return try InterceptorIdentity(leaf, self.server.presented)
        case .copiedNames: return try self.copied()
        case .sameIntermediate:
            guard let intermediate = self.server.intermediate else { throw InterceptionError.noIntermediate }
            let leaf = try InterceptorCertificate(try self.form(), by: intermediate.certificate)
            return try InterceptorIdentity(leaf, intermediate.chain)
        }
    }

    private func issued(
        key: Certificate.PrivateKey? = nil, _ change: (inout InterceptorCertificate.Form) throws -> Void = { _ in }
    ) throws -> InterceptorIdentity {
        var form = try self.form()
        try change(&form)
        return try InterceptorIdentity(try InterceptorCertificate(form, by: self.trusted, key: key))
    }

    /// A good certificate for the host.
    private func form() throws -> InterceptorCertificate.Form {
        let host = self.server.host
        let name: GeneralName =
            IPAddress(host).map { .ipAddress(.init(contentBytes: $0.bytes[...])) } ?? .dnsName(host.description)
        // A common name has 64 characters at most (X.520).
        return InterceptorCertificate.Form(
            names: [name], subject: try DistinguishedName { CommonName(String(host.description.prefix(64))) },
            notBefore: self.time - Self.secondsBefore, notAfter: self.time + Self.leafSecondsAfter)
    }

    /// The names and the serial number of the real certificate, with another key.
    private func copied() throws -> InterceptorIdentity {
        guard let leaf = self.server.presented.first, let real = try? Certificate(derEncoded: leaf) else {
            throw InterceptionError.noPresentedChain
        }
        return try self.issued { form in
            form.subject = real.subject
            form.serialNumber = real.serialNumber
            if let names = try? real.extensions.subjectAlternativeNames { form.names = Array(names) }
        }
    }
}

/// The reason for which a bench cannot be set up.
public enum InterceptionError: Error, Sendable {
    /// The case needs the certificates that the upstream presents, and there are none that can be read.
    case noPresentedChain
    /// The case needs an issuing CA.
    case noIntermediate
    /// The files of the issuing CA cannot be used.
    case intermediate(String)
    /// More ports are needed than there are behind the first one.
    case ports
}

/// The server that the bench stands in front of.
public struct InterceptedServer: Sendable {
    /// An issuing CA of the server's own PKI.
    struct Intermediate {
        let certificate: InterceptorCertificate
        /// The certificates that are presented behind the server's.
        let chain: [[UInt8]]
    }

    /// The host that clients ask for.
    public let host: HostName
    /// The address at which it is really reached.
    public let address: String
    /// The port.
    public let port: Int
    /// The certificates that it presents, its own first.
    public let presented: [[UInt8]]
    private(set) var intermediate: Intermediate?

    /// Names a server.
    public init(host: HostName, address: String, port: Int, presented: [[UInt8]] = []) {
        self.host = host
        self.address = address
        self.port = port
        self.presented = presented
    }

    /// Adds an issuing CA of its PKI.
    ///
    /// - Parameters:
    ///   - chain: The CA's certificate in DER, then those above it.
    ///   - key: The CA's private key in PEM.
    /// - Throws: ``InterceptionError/intermediate(_:)``.
    public mutating func add(intermediate chain: [[UInt8]], keyPEM: String) throws(InterceptionError) {
        guard let first = chain.first, let certificate = try? Certificate(derEncoded: first) else {
            throw .intermediate("its certificate cannot be read")
        }
        guard let key = try? Certificate.PrivateKey(pemEncoded: keyPEM) else {
            throw .intermediate("its key is not an unencrypted private key in PEM")
        }
        guard key.publicKey == certificate.publicKey, let own = try? InterceptorCertificate(certificate, key) else {
            throw .intermediate("its key belongs to another certificate")
        }
        self.intermediate = Intermediate(certificate: own, chain: chain)
    }
}
