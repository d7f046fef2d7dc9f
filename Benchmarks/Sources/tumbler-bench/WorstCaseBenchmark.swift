// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Crypto
import Dispatch
import PathValidation
import X509

/// The worst known chains: what they cost beside the least that the same work could cost.
struct WorstCaseBenchmark {
    private static let time = Timestamp(secondsSince1970: 1_800_000_000)

    func run(_ report: inout Report) async throws {
        try await self.search(&report)
        try await self.names(&report)
    }

    /// A path search: 32 cross-signed intermediates in four levels, about 10 KB, which lead to no anchor. Without a budget
    /// swift-certificates' verifier took 3.9 s for it. The peer parses the same certificates and verifies as many
    /// signatures.
    private func search(_ report: inout Report) async throws {
        print("Path validation, worst case of the search:")
        let presented = try self.lattice(levels: 4, width: 8)
        let stranger = try TestChain.ellipticCurve().certificates[2]
        let validator = self.validator(roots: [stranger])
        let host = try HostName("api.example.com")
        let key = P256.Signing.PrivateKey()
        let message = presented[0]
        let signature = try key.signature(for: message)
        let outcome = await validator.validate(presented: presented, as: .host(host), at: Self.time)
        var ours: [Double] = []
        var parts: [Double] = []
        for round in 0..<12 {
            let middle: UInt64
            let start = DispatchTime.now().uptimeNanoseconds
            keep(await validator.validate(presented: presented, as: .host(host), at: Self.time))
            middle = DispatchTime.now().uptimeNanoseconds
            for certificate in presented { keep(try? Certificate(derEncoded: certificate)) }
            for _ in 0..<outcome.work.signatureChecks {
                precondition(key.publicKey.isValidSignature(signature, for: message))
            }
            let end = DispatchTime.now().uptimeNanoseconds
            if round >= 2 {
                ours.append(Double(middle - start))
                parts.append(Double(end - middle))
            }
        }
        report.figure("presented", "\(presented.count - 1) intermediates, \(presented.joined().count) bytes")
        report.figure("outcome", "\(outcome.result)")
        report.figure("work", "\(outcome.work.signatureChecks) signature checks, \(outcome.work.candidateSteps) steps")
        self.compare("as many signatures verified, and all certificates parsed", 5, ours, parts, &report)
    }

    /// Name constraints: 490 directory names in the leaf against 490 excluded subtrees, which agree but for their last
    /// part. The peer is libcrypto, which compares as many.
    private func names(_ report: inout Report) async throws {
        print("Path validation, worst case of name constraints:")
        let chain = try TestChain.hostileNames(490)
        let presented = Array(chain.certificates.dropLast())
        let validator = self.validator(roots: [chain.certificates[2]])
        let host = try HostName(chain.host)
        let outcome = await validator.validate(presented: presented, as: .host(host), at: Self.time)
        var ours: [Double] = []
        var theirs: [Double] = []
        for round in 0..<7 {
            let start = DispatchTime.now().uptimeNanoseconds
            keep(await validator.validate(presented: presented, as: .host(host), at: Self.time))
            let middle = DispatchTime.now().uptimeNanoseconds
            let isValid = Libcrypto.validates(
                presented, anchor: chain.certificates[2], host: chain.host, time: chain.time)
            let end = DispatchTime.now().uptimeNanoseconds
            if round == 0 { report.figure("allowed by libcrypto", "\(isValid)") }
            if round >= 2 {
                ours.append(Double(middle - start))
                theirs.append(Double(end - middle))
            }
        }
        report.figure("presented", "\(presented.joined().count) bytes")
        if case .failure(let refusal) = outcome.result { report.fails("the chain validates (\(refusal))") }
        report.figure("work", "\(outcome.work.nameComparisons) comparisons of parts of names")
        report.limit(
            "comparisons", Double(outcome.work.nameComparisons), atMost: Double(PathLimits.standard.nameComparisons))
        self.compare("libcrypto's validation", 2, ours, theirs, &report)
    }

    private func compare(
        _ peer: String, _ limit: Double, _ ours: [Double], _ theirs: [Double], _ report: inout Report
    ) {
        let (ours, theirs) = (ours.sorted()[ours.count / 2], theirs.sorted()[theirs.count / 2])
        report.time("ours", ours)
        report.time(peer, theirs)
        report.limit("ours : \(peer)", ours / theirs, atMost: limit)
    }

    private func validator(roots: [[UInt8]]) -> PathValidator {
        PathValidator(
            roots: RootStore(certificates: roots), monotonicNanoseconds: { DispatchTime.now().uptimeNanoseconds })
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
