// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Crypto
import Foundation
import PinListClient
import PinningURLSession
import Security
import X509

/// What one challenge costs beyond the system's evaluation of the trust object. Exit 1 when the limit does not hold.
struct ChallengeCost {
    private static let host = "api.example.com"

    private let presented: [SecCertificate]
    private let pinning: Pinning

    init(key: () throws -> Certificate.PrivateKey) throws {
        let root = try TestCertificate.authority("root", key: key())
        let intermediate = try TestCertificate.authority("intermediate", by: root, key: key())
        let leaf = try TestCertificate.server(by: intermediate, key: key())
        SimulatedSystem.addAnchor(root.der)
        SimulatedSystem.setDefaultTime(Date(timeIntervalSince1970: Double(TestCertificate.time)))
        self.presented = [leaf, intermediate].compactMap { SecCertificateCreateWithData(nil, Data($0.der) as CFData) }
        let pins = [KnownPin(try Pin(publicKeyOf: leaf.der)), KnownPin(Pin(kind: .publicKey, hashing: [1]))]
        self.pinning = Pinning(
            policy: try PinningPolicy(domains: [PinnedDomain(try HostName(Self.host), pins: pins)]), state: .memory,
            configuration: PinningConfiguration(fetcher: URLSessionFetcher(), reportSender: URLSessionFetcher()))
    }

    private func trust() -> SecTrust? {
        var trust: SecTrust?
        SecTrustCreateWithCertificates(
            self.presented as CFArray, SecPolicyCreateSSL(true, Self.host as CFString), &trust)
        return trust
    }

    func measure(_ report: inout Report) {
        guard let evaluated = self.trust(), SecTrustEvaluateWithError(evaluated, nil) else {
            return print("  the chain does not validate")
        }
        let evaluation = Subject(name: "evaluation") {
            if let fresh = self.trust() { keep(SecTrustEvaluateWithError(fresh, nil)) }
        }
        // An object that was evaluated remembers its result: what is left is reading the path, and ours.
        let reading = Subject(name: "reading") {
            keep(SecTrustEvaluateWithError(evaluated, nil))
            let chain = SecTrustCopyCertificateChain(evaluated) as? [SecCertificate] ?? []
            keep(chain.map { [UInt8](SecCertificateCopyData($0) as Data) })
        }
        let challenge = Subject(name: "challenge") {
            keep(self.pinning.evaluate(trust: evaluated, host: Self.host))
        }
        let times = Measurement.nanoseconds(of: [evaluation, reading, challenge], iterations: 50)
        report.time("the system's evaluation (the stand-in's)", times[0])
        report.time("reading the validated path from the trust object", times[1])
        report.time("a challenge whose object was evaluated", times[2])
        report.time("of that, ours", times[2] - times[1])
        let allocations = Measurement.allocations(of: challenge) - Measurement.allocations(of: reading)
        report.figure("allocations that are ours", "\(allocations)")
        report.limit("ours : the system's evaluation", (times[2] - times[1]) / times[0], atMost: 0.1)
    }
}

var report = Report()
print("A challenge, three P-256 certificates, one pinned domain:")
try ChallengeCost { Certificate.PrivateKey(P256.Signing.PrivateKey()) }.measure(&report)
exit(report.failures == 0 ? 0 : 1)
