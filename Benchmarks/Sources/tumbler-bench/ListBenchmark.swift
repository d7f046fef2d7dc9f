// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Crypto
import Foundation
import PinListMetadata
import PinningTesting

/// (f): a stored list, from the bytes of its envelope to values that are trusted, against the least that this could
/// cost with the platform's parts: one bare verification for each signature, the base64 of the payload, and `JSONDecoder`
/// into structs of the same members.
struct ListBenchmark {
    func run(_ report: inout Report) throws {
        try self.run(&report, hybrid: false)
        try self.run(&report, hybrid: true)
    }

    private func run(_ report: inout Report, hybrid: Bool) throws {
        let keys = hybrid ? "ECDSA P-256 and ML-DSA-65" : "ECDSA P-256"
        print("\(hybrid ? "Accept a list from outside" : "Load a stored list") (\(keys), two pins a domain):")
        var ours = 0.0
        var theirs = 0.0
        for (count, iterations) in [(1, 400), (100, 100), (10_000, 2)] {
            let (load, parts) = try self.subjects(domains: count, hybrid: hybrid)
            let times = Measurement.nanoseconds(of: [load] + parts, iterations: iterations, rounds: 15)
            let sum = times.dropFirst().reduce(0, +)
            report.time("(f) \(count) domains: verified and read", times[0])
            for (part, time) in zip(parts, times.dropFirst()) { report.time("    \(part.name)", time) }
            report.limit("(f) : their sum, \(count) domains", times[0] / sum, atMost: 1.3)
            ours += times[0]
            theirs += sum
        }
        report.limit("(f) : their sum, all three", ours / theirs, atMost: 1.3)
    }

    private static func domain(_ number: Int) throws -> PinList.Domain {
        let pins = ["current", "backup"].map { (note: String) in
            KnownPin(Pin(kind: .publicKey, hashing: Array("\(note) \(number)".utf8)), note: note)
        }
        let entry = PinnedDomain(
            try HostName("api-\(number).example.com"), includeSubdomains: number % 2 == 0, pins: pins,
            reportTo: ["https://reports.example.com/v1/reports"])
        return PinList.Domain(entry)
    }

    /// The subjects of the measurement, and their yardsticks.
    private func subjects(domains count: Int, hybrid: Bool) throws -> (load: Subject, parts: [Subject]) {
        let time = Timestamp(secondsSince1970: 1_795_219_200)
        let domains = try (0..<count).map { try Self.domain($0) }
        var random = SeededGenerator(seed: 6)
        let key = SigningKey(using: &random)
        var repository = try RepositorySimulator(at: time)
        repository.pinsKeys = [key]
        let second = SigningKey(.mlDSA65, using: &random)
        if hybrid { repository.pinsHybrid = ([second], 1) }
        let root = try repository.publishRoot()
        let bytes = try repository.publishList { $0.domains = domains }
        var trust = try TrustState(bundledRoot: repository.roots[0], bundledList: nil)
        try trust.load(root: root)
        let load = Subject(name: "load") {
            var trust = trust
            // A stored list is evaluated by the role's own demand alone, a list from outside by the hybrid one, too.
            if hybrid { _ = try? trust.accept(list: bytes, at: time) } else { try? trust.load(list: bytes) }
            precondition(trust.inForce?.held.list.domains.count == count)
            keep(trust)
        }

        let envelope = try Envelope(bytes, of: .pins, limits: MetadataLimits())
        let message = Data(envelope.signedBytes)
        let verifier = try P256.Signing.PublicKey(
            derRepresentation: Data(key.publicKey.subjectPublicKeyInfo))
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: envelope.signatures[0].bytes)
        precondition(envelope.signatures.count == (hybrid ? 2 : 1))
        var verifications = [
            Subject(name: "P-256 verification") { precondition(verifier.isValidSignature(signature, for: message)) }
        ]
        if hybrid {
            let key = try MLDSA65.PublicKey(rawRepresentation: second.publicKey.subjectPublicKeyInfo.suffix(1_952))
            let signature = envelope.signatures[1].bytes
            verifications.append(
                Subject(name: "ML-DSA-65 verification") {
                    precondition(key.isValidSignature(signature, for: message))
                })
        }
        let base64 = Data(envelope.payload).base64EncodedData()
        let payload = Data(envelope.payload)
        return (
            load,
            verifications + [
                Subject(name: "base64") { keep(Data(base64Encoded: base64)) },
                Subject(name: "JSONDecoder") {
                    let list = try? JSONDecoder().decode(DecodedList.self, from: payload)
                    precondition(list?.domains.count == count)
                    keep(list)
                },
            ]
        )
    }
}

/// The members of a list, as one writes them down for `JSONDecoder`: nothing is checked.
private struct DecodedList: Decodable {
    struct Domain: Decodable {
        var domain: String
        var includeSubdomains: Bool?
        var mode: String?
        var rollout: Int?
        var pins: [Known]?
        var requireIssuer: Bool?
        var expiresAt: String?
        var reportTo: [String]?
    }

    struct Known: Decodable {
        var pin: String
        var position: String?
        var note: String?
    }

    struct Denied: Decodable {
        var pin: String
        var mode: String?
        var note: String?
    }

    struct Suspended: Decodable {
        var domain: String
        var until: String
        var reason: String
    }

    var type: String
    var specVersion: String
    var name: String
    var version: Int64
    var issuedAt: String
    var expiresAt: String
    var refreshAfter: Int64?
    var reportTo: [String]?
    var domains: [Domain]
    var denied: [Denied]?
    var suspended: [Suspended]?
    var unlisted: String?
}
