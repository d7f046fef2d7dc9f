// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// What a certificate's timestamps prove, whatever the policy and whenever they are evaluated.
///
/// The first of two steps: it verifies signatures, once for a path and a log list. What depends on the time is
/// ``evaluation(under:at:)``, which is cheap, and made at each decision.
public struct TransparencyEvidence: Hashable, Sendable {
    /// What became of one timestamp, as far as that does not depend on the time.
    enum Finding: Hashable, Sendable {
        /// Nothing that can be read.
        case malformed
        /// A timestamp that proves nothing.
        case refused(SignedCertificateTimestamp, TransparencyEvaluation.Status, operatorName: String?)
        /// A timestamp whose signature holds.
        case verified(SignedCertificateTimestamp, TransparencyLog)
    }

    /// Why nothing can be said, or there are no timestamps.
    public let defect: TransparencyError?

    /// How many timestamps were passed over because their version is not known.
    public let unknownVersions: Int

    /// What became of each timestamp, in the order of the certificate.
    let findings: [Finding]

    /// The certificate's last second.
    let notAfter: Timestamp

    /// For how long the certificate is valid, in seconds: both ends count.
    let lifetime: Int64
}

extension TransparencyEvidence {
    /// Verifies the timestamps of a path's leaf.
    ///
    /// - Parameters:
    ///   - path: The path that was validated: its second certificate is the issuer's.
    ///   - logs: The logs that are known.
    public init(of path: ValidatedPath, logs: LogList) {
        self.init(of: path.certificates.first ?? [], issuedBy: path.certificates.dropFirst().first, logs: logs)
    }

    /// Verifies the timestamps of a certificate.
    ///
    /// - Parameters:
    ///   - certificate: The certificate in DER.
    ///   - issuer: That of its issuer. Who the issuer is proves the signature of the certificate, which is not looked at
    ///     here; of a wrong one no timestamp is valid.
    ///   - logs: The logs that are known.
    public init(of certificate: [UInt8], issuedBy issuer: [UInt8]?, logs: LogList) {
        do throws(TransparencyError) {
            let logged = try LoggedCertificate(certificate)
            guard let list = logged.timestamps else {
                throw TransparencyError(.noTimestamps, "the certificate has no embedded timestamps")
            }
            let readings = try SignedCertificateTimestamp.readList(list)
            guard let issuer = issuer.flatMap({ try? Pin(publicKeyOf: $0) }) else {
                throw TransparencyError(.issuer, "the issuer's certificate is missing or cannot be read")
            }
            let entry = logged.entry(issuedBy: issuer)
            var findings: [Finding] = []
            for reading in readings {
                switch reading {
                case .otherVersion: continue
                case .malformed: findings.append(.malformed)
                case .timestamp(let timestamp): findings.append(Finding(timestamp, over: entry, logs))
                }
            }
            self.defect = nil
            self.unknownVersions = readings.count - findings.count
            self.findings = findings
            self.notAfter = logged.notAfter
            // Years have four digits: no overflow.
            self.lifetime = logged.notAfter.secondsSince1970 - logged.notBefore.secondsSince1970 + 1
        } catch {
            self.defect = error
            self.unknownVersions = 0
            self.findings = []
            self.notAfter = Timestamp(secondsSince1970: .min)
            self.lifetime = .max
        }
    }
}

extension TransparencyEvidence.Finding {
    /// Verifies a timestamp over an entry.
    init(_ timestamp: SignedCertificateTimestamp, over entry: [UInt8], _ logs: LogList) {
        guard let log = logs[timestamp.log] else {
            self = .refused(timestamp, .unknownLog, operatorName: nil)
            return
        }
        let operatorName = log.operatorName(at: timestamp.time)
        switch log.key.verify(
            timestamp.signature, algorithm: timestamp.algorithm, over: { timestamp.signedBytes(over: entry) })
        {
        case .holds: self = .verified(timestamp, log)
        case .doesNotHold: self = .refused(timestamp, .invalidSignature, operatorName: operatorName)
        case .unsupported: self = .refused(timestamp, .unsupported, operatorName: operatorName)
        }
    }
}
