// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The evidence in a certificate's timestamps, independent of the policy and of the time.
///
/// Creating it is the first of two steps: signatures are verified, once for a path and a log list. The second step,
/// ``evaluation(under:at:)``, depends on the time. It is cheap and repeated for each decision.
public struct TransparencyEvidence: Hashable, Sendable {
    /// The result for one timestamp, as far as it does not depend on the time.
    enum Finding: Hashable, Sendable {
        /// The bytes cannot be read as a timestamp.
        case malformed
        /// A timestamp that proves nothing.
        case refused(SignedCertificateTimestamp, TransparencyEvaluation.Status, operatorName: String?)
        /// A timestamp with a valid signature.
        case verified(SignedCertificateTimestamp, TransparencyLog)
    }

    /// The defect of a certificate whose timestamps cannot be evaluated.
    public let defect: TransparencyError?

    /// The number of timestamps that were skipped because their version is not known.
    public let unknownVersions: Int

    /// The result for each timestamp, in the order of the certificate.
    let findings: [Finding]

    /// The certificate's last second of validity.
    let notAfter: Timestamp

    /// The length of the certificate's validity in seconds: both ends count.
    let lifetime: Int64
}

extension TransparencyEvidence {
    /// Verifies the timestamps of a path's leaf.
    ///
    /// - Parameters:
    ///   - path: The path that was validated: its second certificate is the issuer's.
    ///   - logs: The known logs.
    public init(of path: ValidatedPath, logs: LogList) {
        self.init(of: path.certificates.first ?? [], issuedBy: path.certificates.dropFirst().first, logs: logs)
    }

    /// Verifies the timestamps of a certificate.
    ///
    /// - Parameters:
    ///   - certificate: The certificate in DER.
    ///   - issuer: The issuer's certificate. The signature that proves the issuer is not checked here; with a wrong
    ///     issuer no timestamp is valid.
    ///   - logs: The known logs.
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
            // Years have four digits, so nothing overflows.
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
