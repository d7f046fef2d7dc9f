// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
@_spi(Tools) import PathValidation

/// A certificate with the one that issued it: what a revocation list is asked about.
struct IssuedCertificate: Hashable, Sendable {
    /// The certificate, DER.
    let certificate: [UInt8]
    /// The certificate whose key signed it, DER.
    let issuer: [UInt8]

    /// Those of a validated path, leaf first. There is no issuer to take its anchor back.
    static func all(of path: ValidatedPath) -> [IssuedCertificate] {
        zip(path.certificates, path.certificates.dropFirst()).map(IssuedCertificate.init)
    }
}

/// Certificates that are asked about, each once, and whose they are.
struct AskedCertificates: Sendable {
    /// The maximum number of certificates of a command: those that the service keeps of a name, and their issuers.
    static let maximumCount = 20_000

    /// The certificates, in the order in which they came.
    private(set) var certificates: [IssuedCertificate] = []
    /// The owners of each: hosts, files.
    private(set) var owners: [IssuedCertificate: [String]] = [:]
    /// The certificates that could not be asked about, and why, each a line.
    private(set) var troubles: [String] = []

    /// Adds a certificate.
    mutating func add(_ certificate: IssuedCertificate, of owner: String) {
        guard self.certificates.count < Self.maximumCount else {
            self.complain("over \(Self.maximumCount) certificates are not asked about")
            return
        }
        if self.owners[certificate] == nil { self.certificates.append(certificate) }
        if self.owners[certificate]?.contains(owner) != true { self.owners[certificate, default: []].append(owner) }
    }

    /// Says what cannot be asked about.
    mutating func complain(_ trouble: String) {
        if self.troubles.last != trouble { self.troubles.append(trouble) }
    }

    /// Adds certificates without their path: each with its issuer among the others or among the anchors.
    ///
    /// - Parameters:
    ///   - told: The certificates, and whose they are.
    ///   - others: Further certificates, which are not asked about.
    ///   - anchors: Who may have issued them besides.
    mutating func add(_ told: [(certificate: [UInt8], owner: String)], among others: [[UInt8]], _ anchors: RootStore)
        async
    {
        var bySubject: [ArraySlice<UInt8>: Set<[UInt8]>] = [:]
        for certificate in told.map(\.certificate) + others {
            guard let fields = try? CertificateFields(walking: certificate) else { continue }
            bySubject[certificate[fields.subject], default: []].insert(certificate)
        }
        for (certificate, owner) in told {
            guard let fields = try? CertificateFields(walking: certificate) else {
                self.complain("\(owner): a certificate cannot be read")
                continue
            }
            let issuerName = certificate[fields.issuer]
            // What names itself was signed by itself: an anchor.
            guard issuerName != certificate[fields.subject] else { continue }
            let candidates =
                (bySubject[issuerName] ?? []).sorted { $0.lexicographicallyPrecedes($1) }
                + anchors.certificates(named: issuerName)
            if let issuer = await Self.issuer(of: certificate, among: candidates) {
                self.add(IssuedCertificate(certificate: certificate, issuer: issuer), of: owner)
            } else {
                let name = DistinguishedNameText(fields.issuer, of: certificate).description
                self.complain(
                    "\(owner): its issuer «\(PrintableText.line(name))» is not at hand, so no list can be asked")
            }
        }
    }

    /// The maximum number of certificates of one name whose keys are tried: a name has one key, or two during a change.
    private static let maximumCandidates = 16

    private static func issuer(of certificate: [UInt8], among candidates: [[UInt8]]) async -> [UInt8]? {
        for candidate in candidates.prefix(Self.maximumCandidates) {
            let epoch = Timestamp(secondsSince1970: 0)
            if (try? await RevocationLists.none.status(of: certificate, issuedBy: candidate, at: epoch)) != nil {
                return candidate
            }
        }
        return nil
    }
}
