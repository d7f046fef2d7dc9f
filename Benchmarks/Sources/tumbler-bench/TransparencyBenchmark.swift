// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
@_spi(Tools) import CertificateTransparency
import Crypto
import SwiftASN1
import X509

/// The cost of three timestamps: to verify them beside three signatures of P-256 alone, and to evaluate them again.
struct TransparencyBenchmark {
    /// A log that signs.
    private struct Log {
        let key = P256.Signing.PrivateKey()

        var publicKey: [UInt8] { Array(self.key.publicKey.derRepresentation) }
    }

    func run(_ report: inout Report) throws {
        print("Certificate Transparency, three timestamps:")
        let chain = try TestChain.ellipticCurve()
        let logs = [Log(), Log(), Log()]
        let unlogged = try LoggedCertificate(chain.certificates[0])
        let entry = unlogged.entry(issuedBy: try Pin(publicKeyOf: chain.certificates[1]))
        let signed = try logs.map { try Self.timestamp(of: $0, over: entry, at: UInt64(chain.time) * 1_000) }
        let certificate = try Self.certificate(chain.certificates[0], timestamps: signed.map(\.bytes))
        let list = try LogList(Self.list(logs))
        let path = ValidatedPath(uncheckedValidatedPath: [certificate] + chain.certificates.dropFirst())
        let time = Timestamp(secondsSince1970: chain.time)
        let evidence = TransparencyEvidence(of: path, logs: list)
        report.figure("evaluation", evidence.evaluation(under: .chrome, at: time).detail)

        let verify = Subject(name: "evidence of a path") { keep(TransparencyEvidence(of: path, logs: list)) }
        let keys = logs.map(\.key.publicKey)
        let alone = Subject(name: "three signatures of P-256 alone, over the same bytes") {
            for (key, signed) in zip(keys, signed) {
                guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: signed.signature) else {
                    continue
                }
                keep(key.isValidSignature(signature, for: signed.message))
            }
        }
        let evaluate = Subject(name: "evaluating the evidence") { keep(evidence.evaluation(under: .chrome, at: time)) }
        let times = Measurement.nanoseconds(of: [verify, alone, evaluate], iterations: 20)
        for (subject, time) in zip([verify, alone, evaluate], times) { report.time(subject.name, time) }
        report.limit("evidence : signatures alone", times[0] / times[1], atMost: 1.10)
        report.limit("evaluating : evidence", times[2] / times[0], atMost: 0.05)
    }

    private static func vector(_ bytes: [UInt8]) -> [UInt8] { self.number(UInt64(bytes.count), 2) + bytes }

    private static func number(_ number: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
    }

    private static func timestamp(
        of log: Log, over entry: [UInt8], at milliseconds: UInt64
    ) throws -> (bytes: [UInt8], message: [UInt8], signature: [UInt8]) {
        let message = [0, 0] + self.number(milliseconds, 8) + entry + [0, 0]
        let signature = Array(try log.key.signature(for: message).derRepresentation)
        let head = [0] + LogID(ofKey: log.publicKey).bytes + self.number(milliseconds, 8) + [0, 0, 4, 3]
        return (head + self.vector(signature), message, signature)
    }

    /// The same certificate with timestamps. Its signature is by another key, and is not looked at.
    private static func certificate(_ der: [UInt8], timestamps: [[UInt8]]) throws -> [UInt8] {
        let parsed = try Certificate(derEncoded: der)
        var value = DER.Serializer()
        try value.serialize(ASN1OctetString(contentBytes: self.vector(timestamps.flatMap(self.vector))[...]))
        var extensions = parsed.extensions
        try extensions.append(
            Certificate.Extension(
                oid: [1, 3, 6, 1, 4, 1, 11129, 2, 4, 2], critical: false, value: value.serializedBytes[...]))
        let logged = try Certificate(
            version: .v3, serialNumber: parsed.serialNumber, publicKey: parsed.publicKey,
            notValidBefore: parsed.notValidBefore, notValidAfter: parsed.notValidAfter, issuer: parsed.issuer,
            subject: parsed.subject, signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions,
            issuerPrivateKey: Certificate.PrivateKey(P256.Signing.PrivateKey()))
        var serializer = DER.Serializer()
        try serializer.serialize(logged)
        return serializer.serializedBytes
    }

    private static func list(_ logs: [Log]) -> [UInt8] {
        let operators = logs.enumerated().map { index, log in
            """
            {"name": "\(index)", "logs": [{"key": "\(Base64.encode(log.publicKey))", "log_id": \
            "\(LogID(ofKey: log.publicKey))", "state": {"usable": {"timestamp": "2026-01-01T00:00:00Z"}}}]}
            """
        }
        return Array(#"{"operators": [\#(operators.joined(separator: ","))]}"#.utf8)
    }
}
