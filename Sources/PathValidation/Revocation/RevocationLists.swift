// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import CertificatePinning
import Crypto
import SwiftASN1
import X509

/// A set of revocation lists, looked up by certificate.
///
/// A list counts for a certificate of the same issuer name whose issuer's key signed it, where that key may sign lists. It
/// covers the certificate when its scope fits and it has not ended. A serial number in a list that has ended is still
/// revoked (RFC 5280, section 6.3; formats.md, section 4.1).
public struct RevocationLists: Sendable {
    /// The maximum length of one list in bytes, in DER or PEM (formats.md, section 4.1).
    public static let maximumLength = 32 << 20

    /// The maximum number of lists (formats.md, section 4.1).
    public static let maximumCount = 1_024

    /// The label of a list in PEM (RFC 7468, section 6).
    public static let pemLabel = "X509 CRL"

    private let lists: [RevocationList]
    private let byIssuer: [ArraySlice<UInt8>: [Int]]
    private let signatures: KnownSignatures

    /// The number of lists.
    public var count: Int { self.lists.count }

    /// The number of entries in all lists.
    public var revokedCount: Int { self.lists.reduce(0) { $0 + $1.count } }

    /// No list.
    public static let none = RevocationLists(lists: [])

    /// Reads lists. Time and memory are linear in their length. Signatures are checked later, once for each issuer's key.
    ///
    /// - Parameter files: Each one list in DER, or PEM with at least one.
    /// - Throws: `InputError.Code.revocationList` for what cannot be read as a list, or is over ``maximumLength``;
    ///   `InputError.Code.pem` for PEM that is damaged.
    public init(_ files: [[UInt8]]) throws(InputError) { self = try Self.none.adding(files) }

    /// Returns these lists with more added.
    ///
    /// - Parameter files: Each one list in DER, or PEM with at least one.
    /// - Throws: As the initialiser does.
    public func adding(_ files: [[UInt8]]) throws(InputError) -> RevocationLists {
        var lists = self.lists
        for file in files {
            for der in try Self.lists(in: file) {
                do throws(InvalidCertificateError) { lists.append(try RevocationList(der)) } catch {
                    let reason =
                        switch error {
                        case .unexpectedElement: "not the structure of one"
                        case .tooLarge: "too large"
                        default: error.description
                        }
                    throw InputError(.revocationList, "the revocation list cannot be read: \(reason)")
                }
                guard lists.count <= Self.maximumCount else {
                    throw InputError(.revocationList, "over \(Self.maximumCount) revocation lists")
                }
            }
        }
        return RevocationLists(lists: lists)
    }

    private init(lists: [RevocationList]) {
        self.signatures = KnownSignatures()
        self.lists = lists
        var byIssuer: [ArraySlice<UInt8>: [Int]] = [:]
        for (number, list) in lists.enumerated() { byIssuer[list.issuer, default: []].append(number) }
        self.byIssuer = byIssuer
    }

    private static func lists(in file: [UInt8]) throws(InputError) -> [[UInt8]] {
        guard file.count <= self.maximumLength else {
            throw InputError(.revocationList, "a revocation list of over \(self.maximumLength >> 20) MiB is not read")
        }
        if file.first == ElementCursor.Tag.sequence { return [file] }
        let blocks = try PEMBlock.blocks(in: file, maximumLength: self.maximumLength)
        let lists = blocks.filter { $0.label == self.pemLabel }.map(\.bytes)
        guard !lists.isEmpty else {
            throw InputError(.revocationList, "no revocation list in it, neither DER nor PEM with \(self.pemLabel)")
        }
        return lists
    }

    /// SHA-256 over all lists in their order: for keys of caches. Computed at each call.
    public var digest: [UInt8] {
        var hash = SHA256()
        for list in self.lists {
            hash.update(length: list.der.count)
            hash.update(data: list.der)
        }
        return Array(hash.finalize())
    }

    /// Returns the revocation status of one certificate. Only the issuer's signature on it is verified.
    ///
    /// - Parameters:
    ///   - certificate: The certificate in DER.
    ///   - issuer: The one that issued it.
    ///   - time: The time at which a list must be in force to say that a certificate is not revoked.
    /// - Throws: ``PathValidationError`` when one of them cannot be read, or the issuer did not issue the certificate.
    public func status(
        of certificate: [UInt8], issuedBy issuer: [UInt8], at time: Timestamp
    ) async throws(PathValidationError) -> RevocationStatus {
        let certificate = try CandidateCertificate(certificate)
        let issuer = try CandidateCertificate(issuer)
        guard certificate.issuer == issuer.subject, certificate.isSigned(by: issuer) else {
            throw PathValidationError(.chainInvalid, "«\(issuer.name)» did not issue «\(certificate.name)»")
        }
        return await self.status(of: certificate, issuedBy: issuer, at: time)
    }

    /// The answer of the first list that has a serial number, without a look at its issuer and signature: for tools that look at
    /// lists alone.
    ///
    /// - Parameter serial: The content octets, compared as they stand.
    @_spi(Tools) public func entry(with serial: [UInt8]) -> Revocation? {
        for list in self.lists {
            if let found = list.revocation(of: serial) { return found }
        }
        return nil
    }

    /// The addresses of the lists that a certificate names as its issuer's own, as they stand in it.
    ///
    /// - Throws: ``PathValidationError`` when the certificate cannot be read.
    public static func addresses(of certificate: [UInt8]) throws(PathValidationError) -> [String] {
        let certificate = try CandidateCertificate(certificate)
        return certificate.distributionPoints.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The revocation status of a certificate whose signature was verified.
    func status(
        of certificate: CandidateCertificate, issuedBy issuer: CandidateCertificate, at time: Timestamp
    ) async -> RevocationStatus {
        var obstacle = "no list of its issuer was given"
        var end: Timestamp?
        for number in self.byIssuer[certificate.issuer] ?? [] {
            let list = self.lists[number]
            if let objection = list.scope.objection(to: certificate) {
                obstacle = objection
                continue
            }
            guard issuer.maySignRevocationLists else {
                obstacle = "its issuer's key may not sign revocation lists (key usage)"
                continue
            }
            guard await self.signatures.hold(of: number, list, by: issuer) else {
                obstacle = "its issuer's key did not sign it, or not in a way that is accepted"
                continue
            }
            if let found = list.revocation(of: certificate.der[certificate.fields.serialNumber]) {
                return .revoked(found)
            }
            if time > list.nextUpdate {
                obstacle = "it ended at \(list.nextUpdate)"
            } else if time < list.thisUpdate {
                obstacle = "it begins at \(list.thisUpdate), which is later"
            } else {
                end = max(end ?? list.nextUpdate, list.nextUpdate)
            }
        }
        return end.map { .good(until: $0) } ?? .unknown(obstacle)
    }
}

/// The revocation status of a certificate.
public enum RevocationStatus: Hashable, Sendable {
    /// A list covers it and has no entry for it.
    case good(until: Timestamp)
    /// A list has an entry for it.
    case revoked(Revocation)
    /// No list covers it; why the last list does not, for people.
    case unknown(String)
}

/// The results of signature checks of lists by key: each is checked once, because it covers up to 32 MiB.
private actor KnownSignatures {
    private struct Question: Hashable {
        let list: Int
        let key: ArraySlice<UInt8>
    }

    /// The maximum number of results; beyond it all are removed.
    private static let maximumCount = 4_096

    private var answers: [Question: Bool] = [:]

    func hold(of number: Int, _ list: RevocationList, by issuer: CandidateCertificate) -> Bool {
        let question = Question(list: number, key: ArraySlice(Array(issuer.publicKey)))
        if let known = self.answers[question] { return known }
        if self.answers.count >= Self.maximumCount { self.answers.removeAll() }
        let holds = list.isSigned(by: issuer)
        self.answers[question] = holds
        return holds
    }
}

extension RevocationScope {
    /// Returns why a list with this scope does not cover a certificate; `nil` when it does.
    func objection(to certificate: CandidateCertificate) -> String? {
        if let obstacle { return obstacle }
        switch self.kind {
        case .all: break
        case .users: if certificate.isAuthority { return "it is for certificates of servers and users alone" }
        case .authorities: if !certificate.isAuthority { return "it is for certificates of CAs alone" }
        }
        guard let names else { return nil }
        return certificate.distributionPoints.contains { names.contains($0) }
            ? nil : "the certificate does not name its distribution point"
    }
}

extension CandidateCertificate {
    /// Whether it says that it is a CA.
    var isAuthority: Bool {
        if case .isCertificateAuthority? = try? self.certificate.extensions.basicConstraints { return true }
        return false
    }

    /// The URIs of its distribution points.
    var distributionPoints: [[UInt8]] {
        self.certificate.extensions[oid: DistributionPoints.identifier].flatMap {
            try? DistributionPoints.names(in: $0.value)
        } ?? []
    }

    /// Whether the key may sign revocation lists (RFC 5280, section 4.2.1.3): where the key usage says nothing, it may.
    var maySignRevocationLists: Bool {
        guard let usage = self.certificate.extensions[oid: .X509ExtensionID.keyUsage] else { return true }
        // Old roots have more padding than DER allows in a list of named bits.
        guard let bits = try? ASN1BitString(derEncoded: usage.value).bytes.first else { return false }
        return bits & 0x02 != 0
    }
}
#endif
