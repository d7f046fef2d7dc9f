// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation
import NIOHTTP1

/// Certificates that the service keeps of logs (formats.md, section 7).
struct ServiceSightings: Decodable, Sendable {
    /// One of them.
    struct Kept: Decodable, Sendable {
        /// The digest by which it is known.
        var identity: String
        /// Its names.
        var names: [String]
        /// The certificate or precertificate, DER.
        var der: Data
        /// The certificate of its issuer, DER; absent where none was told.
        var issuerDER: Data?

        /// The certificate.
        var certificate: [UInt8] { Array(self.der) }
        /// Its issuer's.
        var issuer: [UInt8]? { self.issuerDER.map { Array($0) } }
        /// Its owner, in a line.
        var owner: String {
            let more = self.names.count > 1 ? " and \(self.names.count - 1) more" : ""
            return PrintableText.line(
                (self.names.first ?? "without a name") + more + " (logged, \(self.identity.prefix(16)))",
                maximumLength: 300)
        }
    }

    /// The certificates of a page.
    var certificates: [Kept]
    /// The identity after which the next page begins; absent on the last one.
    var next: String?
}

extension ServiceClient {
    /// The maximum number of bytes of a page: 64 certificates and issuers of 64 KiB each in base64, and their names.
    private static let sightingsBytes = 16 << 20
    /// The maximum number of pages: the certificates that are kept of a name.
    private static let maximumPages = 160

    /// All certificates that the service keeps of a list.
    ///
    /// - Throws: ``CommandError`` when the service cannot be asked, or answers something else.
    func sightings(of name: String) async throws(CommandError) -> [ServiceSightings.Kept] {
        var kept: [ServiceSightings.Kept] = []
        var after = ""
        for _ in 0..<Self.maximumPages {
            let answer = try await self.answer(
                Request(
                    method: .GET, url: "\(self.address.list(name))/sightings\(after)", body: nil,
                    maximumBytes: Self.sightingsBytes))
            guard answer.status == 200 else {
                let failure = answer.failure("no sightings")
                throw CommandError(.undecided, failure.message, hint: failure.hint)
            }
            guard let page = try? JSONDecoder().decode(ServiceSightings.self, from: Data(answer.body)) else {
                throw CommandError(.undecided, "\(self.address) answers 200, but not with sightings")
            }
            kept += page.certificates
            guard let next = page.next else { return kept }
            guard next.utf8.count == 64, next.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) }) else { break }
            after = "?after=\(next)"
        }
        throw CommandError(.undecided, "\(self.address): the sightings do not end")
    }
}
