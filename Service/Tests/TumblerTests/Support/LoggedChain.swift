// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Crypto
import Foundation
import SwiftASN1
import Testing
import X509

/// A chain whose leaf two test logs have signed, written by swift-certificates: what the logs signed is a certificate that
/// this library made without their timestamps.
struct LoggedChain {
    /// A log: its key and who runs it.
    struct Log {
        let key = P256.Signing.PrivateKey()
        let operatorName: String
        let isTiled: Bool

        var publicKey: [UInt8] { Array(self.key.publicKey.derRepresentation) }

        var id: [UInt8] { Array(SHA256.hash(data: self.publicKey)) }
    }

    /// The time of all evaluations: the certificates are valid for a day before and after.
    static let time = "2027-01-15T08:00:00Z"

    let root: TestCertificate
    let leaf: TestCertificate
    let logs = [Log(operatorName: "A", isTiled: false), Log(operatorName: "B", isTiled: true)]

    /// Makes a chain for `api.example.com`.
    init() throws {
        let root = try TestCertificate.authority("root")
        let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let unlogged = try TestCertificate.server(by: root, key: key)
        let timestamps = try self.logs.map { try Self.timestamp($0, over: unlogged, by: root) }
        var serializer = DER.Serializer()
        try serializer.serialize(ASN1OctetString(contentBytes: Self.vector(timestamps.flatMap(Self.vector))[...]))
        let list = serializer.serializedBytes
        self.root = root
        self.leaf = try TestCertificate.server(by: root, key: key) {
            $0.others = [
                Certificate.Extension(oid: [1, 3, 6, 1, 4, 1, 11129, 2, 4, 2], critical: false, value: list[...])
            ]
        }
    }

    /// Writes `chain.pem`, `leaf.pem`, `roots.pem`, `logs.json`, and `one-log.json` without the second log.
    func write(into folder: URL) throws {
        try folder.write(try self.leaf.pem + self.root.pem, as: "chain.pem")
        try folder.write(try self.leaf.pem, as: "leaf.pem")
        try folder.write(try self.root.pem, as: "roots.pem")
        try folder.write(self.list(self.logs), as: "logs.json")
        try folder.write(self.list(Array(self.logs.prefix(1))), as: "one-log.json")
        try folder.write(self.list(self.logs, at: "2026-10-01T00:00:00Z"), as: "old.json")
    }

    /// A log list.
    private func list(_ logs: [Log], at time: String = "2027-01-10T00:00:00Z") -> String {
        let operators = logs.map { log in
            """
            {"name": "\(log.operatorName)", "logs": [], "\(log.isTiled ? "tiled_logs" : "logs")": [{"log_id": \
            "\(Base64.encode(log.id))", "key": "\(Base64.encode(log.publicKey))", "state": {"usable": {"timestamp": \
            "2026-01-01T00:00:00Z"}}}]}
            """.replacingOccurrences(of: log.isTiled ? "" : "\"logs\": [], ", with: "")
        }
        return """
            {"version": "1.1", "log_list_timestamp": "\(time)", "operators": [\(operators.joined(separator: ", "))]}
            """
    }

    private static func timestamp(
        _ log: Log, over certificate: TestCertificate, by issuer: TestCertificate
    ) throws -> [UInt8] {
        let fields = try CertificateFields(walking: certificate.der)
        let toBeSigned = certificate.der[fields.toBeSigned]
        let milliseconds = self.number(UInt64(TestCertificate.time - 3_600) * 1_000, 8)
        let head: [UInt8] = [0, 0] + milliseconds + [0, 1] + (try Pin(publicKeyOf: issuer.der)).digest
        let message = head + self.number(UInt64(toBeSigned.count), 3) + toBeSigned + [0, 0]
        let signature = Array(try log.key.signature(for: message).derRepresentation)
        return [0] + log.id + milliseconds + [0, 0, 4, 3] + self.vector(signature)
    }

    private static func vector(_ bytes: [UInt8]) -> [UInt8] { self.number(UInt64(bytes.count), 2) + bytes }

    private static func number(_ number: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
    }
}
