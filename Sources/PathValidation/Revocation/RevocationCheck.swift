// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning

/// What a path must satisfy beside RFC 5280: revocation lists, and what follows where they say nothing.
public struct RevocationCheck: Sendable {
    /// What follows for a certificate that no list covers.
    public enum Demand: String, Sendable, CaseIterable {
        /// It passes: only what is known to be revoked is refused.
        case ifKnown = "if-known"
        /// It is refused. Asked of every certificate below the anchor.
        case required
    }

    /// The lists.
    public var lists: RevocationLists

    /// What follows for a certificate that no list covers.
    public var demand: Demand

    /// Asks for lists.
    public init(_ lists: RevocationLists, _ demand: Demand) {
        self.lists = lists
        self.demand = demand
    }

    /// Asks about each certificate of a path, but the anchor.
    ///
    /// - Parameters:
    ///   - path: The certificates: leaf first, anchor last; all signatures hold.
    ///   - time: When the lists must be in force.
    /// - Returns: Until when the answer holds; `nil` for as long as the lists are these.
    /// - Throws: ``PathValidationError`` with the reason `revoked` or `revocation-unknown`. What is revoked is said first.
    func check(_ path: [CandidateCertificate], at time: Timestamp) async throws(PathValidationError) -> Timestamp? {
        var end: Timestamp?
        var unknown: PathValidationError?
        for (certificate, issuer) in zip(path, path.dropFirst()) {
            switch await self.lists.status(of: certificate, issuedBy: issuer, at: time) {
            case .revoked(let revocation):
                let serial = SerialNumber(contents: certificate.der[certificate.fields.serialNumber])
                let since = revocation.since.map { " since \($0)" } ?? ""
                let reason = revocation.reason.map { " (\($0))" } ?? ""
                throw PathValidationError(
                    .revoked,
                    "«\(certificate.name)», serial number \(serial?.description ?? "of over 64 octets"), is revoked\(since)\(reason)"
                )
            case .unknown(let obstacle):
                // A list that ends, or begins, answers otherwise at another time.
                unknown =
                    unknown
                    ?? PathValidationError(
                        .revocationUnknown, "no revocation list covers «\(certificate.name)»: \(obstacle)",
                        isRepeatable: false)
            case .good(let until): end = min(end ?? until, until)
            }
        }
        guard self.demand == .required else { return nil }
        if let unknown { throw unknown }
        return end
    }
}
#endif
