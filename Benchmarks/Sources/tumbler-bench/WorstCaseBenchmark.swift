// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Crypto
import Dispatch
import PathValidation
import X509

/// The worst known chain for a path search: 32 cross-signed intermediates in four levels, about 10 KB, which lead to no
/// anchor. Without a budget swift-certificates' verifier took 3.9 s for it.
struct WorstCaseBenchmark {
    func run(_ report: inout Report) async throws {
        print("Path validation, worst case:")
        let presented = try self.lattice(levels: 4, width: 8)
        let stranger = try TestChain.ellipticCurve().certificates[2]
        let validator = PathValidator(
            roots: RootStore(certificates: [stranger]), monotonicNanoseconds: { DispatchTime.now().uptimeNanoseconds })
        let host = try HostName("api.example.com")
        var times: [Double] = []
        for round in 0..<12 {
            let start = DispatchTime.now().uptimeNanoseconds
            let outcome = await validator.validate(
                presented: presented, as: .host(host), at: Timestamp(secondsSince1970: 1_800_000_000))
            if round >= 2 { times.append(Double(DispatchTime.now().uptimeNanoseconds - start)) }
            if round == 0 {
                report.figure("presented", "\(presented.count - 1) intermediates, \(presented.joined().count) bytes")
                report.figure("outcome", "\(outcome.result)")
                report.figure(
                    "work", "\(outcome.work.signatureChecks) signature checks, \(outcome.work.candidateSteps) steps")
            }
        }
        report.limit("median", times.sorted()[times.count / 2] / 1_000_000, atMost: 50, unit: " ms")
    }

    private func lattice(levels: Int, width: Int) throws -> [[UInt8]] {
        let keys = (0...levels).map { _ in Certificate.PrivateKey(P256.Signing.PrivateKey()) }
        var presented: [[UInt8]] = []
        for level in 0..<levels {
            for index in 0..<width {
                presented.append(
                    try TestChain.authority(
                        "Level \(level)", key: keys[level], issuer: "Level \(level + 1)", signer: keys[level + 1],
                        names: ["ca-\(index).example"]))
            }
        }
        let leaf = try TestChain.server(key: keys[levels], issuer: "Level 0", signer: keys[0])
        return [leaf] + presented
    }
}
