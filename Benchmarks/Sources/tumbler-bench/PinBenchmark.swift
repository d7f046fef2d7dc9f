// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Crypto
import SwiftASN1
import X509

/// (a), (b), (c): from a chain to pins, and to a decision.
struct PinBenchmark {
    let chain: TestChain

    func run(_ report: inout Report) throws {
        print("Pins and decisions, \(self.chain.name):")
        let certificates = self.chain.certificates
        let keys = try certificates.map { Array($0[try CertificateFields(walking: $0).subjectPublicKeyInfo]) }
        let pins = Subject(name: "(a) three certificates to pins") {
            for certificate in certificates { keep(try? Pin(publicKeyOf: certificate)) }
        }
        let hash = Subject(name: "SHA-256 alone over the same keys") {
            for key in keys {
                key.withUnsafeBytes { buffer in
                    var hash = SHA256()
                    hash.update(bufferPointer: buffer)
                    keep(hash.finalize())
                }
            }
        }
        let walk = Subject(name: "the walk alone") {
            for certificate in certificates { keep(try? CertificateFields(walking: certificate)) }
        }
        let parse = Subject(name: "(b) the same through swift-certificates' parse") {
            for certificate in certificates {
                guard let parsed = try? Certificate(derEncoded: certificate) else { continue }
                var serializer = DER.Serializer()
                try? serializer.serialize(parsed.publicKey)
                keep(Pin(kind: .publicKey, hashing: serializer.serializedBytes))
            }
        }
        let few = try self.decision(domains: 10)
        let many = try self.decision(domains: 10_000)
        let fast = Measurement.nanoseconds(of: [pins, hash, walk, few, many], iterations: 1_000)
        let slow = Measurement.nanoseconds(of: [parse], iterations: 20)
        report.time(pins.name, fast[0])
        report.time(hash.name, fast[1])
        report.time(walk.name, fast[2])
        report.time(parse.name, slow[0])
        report.limit("(a) : SHA-256 alone", fast[0] / fast[1], atMost: 1.12)
        report.figure("(b) : (a)", "\((slow[0] / fast[0]).rounded())")
        report.limit("allocations of the walk", Double(Measurement.allocations(of: walk)), atMost: 0)
        let own = Double(Measurement.allocations(of: pins)) - Double(Measurement.allocations(of: hash))
        report.figure("allocations of SHA-256 alone", "\(Measurement.allocations(of: hash)), the hash function's own")
        report.limit("allocations of (a) beyond those", own, atMost: 0)
        report.time("(c) a decision, 10 domains", fast[3])
        report.time("(c) a decision, 10,000 domains", fast[4])
        report.limit("(c) 10,000 : 10 domains", fast[4] / fast[3], atMost: 1.2)
        report.limit("(c) : (a)", fast[4] / fast[0], atMost: 1.7)
    }

    /// A whole decision: path in, verdict out, with an index made before.
    private func decision(domains count: Int) throws -> Subject {
        let certificates = self.chain.certificates
        let backup = KnownPin(Pin(kind: .publicKey, hashing: [0]))
        let known = [backup, KnownPin(try Pin(publicKeyOf: certificates[1]))]
        var domains = try (1..<count).map { PinnedDomain(try HostName("host-\($0).example.com"), pins: known) }
        domains.append(PinnedDomain(try HostName("example.com"), includeSubdomains: true, pins: known))
        let policy = try PinningPolicy(
            list: ListIdentity(name: "com.example.app", version: 7, stale: false), domains: domains)
        let time = Timestamp(secondsSince1970: 1_800_000_000)
        return Subject(name: "decision") {
            let path = ValidatedPath(uncheckedValidatedPath: certificates)
            keep(policy.validate(path, for: "api.example.com", at: time))
        }
    }
}
