// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning

/// The check of a path against revocation lists, and the rule for certificates that no list covers.
public struct RevocationCheck: Sendable {
    /// The rule for a certificate that no list covers.
    public enum Demand: String, Sendable, CaseIterable {
        /// It passes: only certificates that are known to be revoked are refused.
        case ifKnown = "if-known"
        /// It is refused. This holds for every certificate below the anchor.
        case required
    }

    /// The lists.
    public var lists: RevocationLists

    /// The rule for a certificate that no list covers.
    public var demand: Demand

    /// Creates a check.
    public init(_ lists: RevocationLists, _ demand: Demand) {
        self.lists = lists
        self.demand = demand
    }

    /// Checks each certificate of a path, but the anchor.
    ///
    /// - Parameters:
    ///   - path: The certificates: leaf first, anchor last; all signatures are valid.
    ///   - time: The time at which the lists must be in force.
    /// - Returns: The end of the answer's validity; `nil` for no end while the lists stay the same.
    /// - Throws: ``PathValidationError`` with the reason `revoked` or `revocation-unknown`. A revoked certificate is reported
    ///   before an unknown one.
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
                // A list that ends or begins may change the answer at another time.
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
