// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation

/// A log of the tests' own, which really signs (RFC 6962, section 3.2). What it signs is put together here, and not by the
/// code that is tested.
public struct SigningLog: Sendable {
    /// Who runs it.
    public let operatorName: String
    private let key = P256.Signing.PrivateKey()

    /// Makes a log with a new key.
    public init(_ operatorName: String) { self.operatorName = operatorName }

    private var publicKey: [UInt8] { Array(self.key.publicKey.derRepresentation) }

    private var id: [UInt8] { Array(SHA256.hash(data: self.publicKey)) }

    /// A log list with some logs.
    ///
    /// - Parameters:
    ///   - logs: The logs, each of an operator of its own.
    ///   - time: When the list was made, RFC 3339.
    ///   - state: The state of each.
    public static func list(of logs: [SigningLog], at time: String, state: String = "usable") -> [UInt8] {
        let operators = logs.map { log in
            """
            {"name": "\(log.operatorName)", "logs": [{"log_id": "\(Data(log.id).base64EncodedString())", "key": \
            "\(Data(log.publicKey).base64EncodedString())", "state": {"\(state)": {"timestamp": \
            "2026-01-01T00:00:00Z"}}}]}
            """
        }
        return Array(
            """
            {"version": "1.1", "log_list_timestamp": "\(time)", "operators": [\(operators.joined(separator: ", "))]}
            """.utf8)
    }

    /// A timestamp over a certificate without timestamps.
    ///
    /// - Parameters:
    ///   - toBeSigned: Its TBSCertificate, in DER.
    ///   - issuerKey: The SHA-256 of the issuer's SubjectPublicKeyInfo.
    ///   - seconds: When, since 1970.
    fileprivate func timestamp(over toBeSigned: [UInt8], _ issuerKey: [UInt8], at seconds: Int64) throws -> [UInt8] {
        let time = number(UInt64(seconds) * 1_000, 8)
        let message = [0, 0] + time + [0, 1] + issuerKey + number(UInt64(toBeSigned.count), 3) + toBeSigned + [0, 0]
        let signature = Array(try self.key.signature(for: message).derRepresentation)
        return [0] + self.id + time + [0, 0, 4, 3] + vector(signature)
    }

    /// The value of the extension with the timestamps of some logs: an OCTET STRING around a list of them.
    ///
    /// - Parameters:
    ///   - logs: Who signs.
    ///   - toBeSigned: The TBSCertificate without this extension, in DER.
    ///   - issuerKey: The SHA-256 of the issuer's SubjectPublicKeyInfo.
    ///   - seconds: When, since 1970.
    public static func extensionValue(
        of logs: [SigningLog], over toBeSigned: [UInt8], issuerKey: [UInt8], at seconds: Int64
    ) throws -> [UInt8] {
        let timestamps = try logs.map { try $0.timestamp(over: toBeSigned, issuerKey, at: seconds) }
        return element(0x04, vector(timestamps.flatMap { vector($0) }))
    }
}

/// A leaf and its issuer, written by hand: nothing that reads them looks at their signatures.
public struct LoggedLeaf {
    /// The leaf, in DER.
    public let leaf: [UInt8]

    /// Any certificate with a key, in DER.
    public static let issuer = certificate(
        toBeSigned(key: 7, notBefore: "260101000000Z", notAfter: "360101000000Z", []))

    /// Makes a leaf that is valid from November 2026 to January 2027.
    ///
    /// - Parameters:
    ///   - logs: Who signed it.
    ///   - seconds: When they did, since 1970.
    ///   - key: What tells its key from that of another leaf.
    public init(loggedBy logs: [SigningLog], at seconds: Int64, key: UInt8 = 1) throws {
        func bytes(_ extensions: [[UInt8]]) -> [UInt8] {
            toBeSigned(key: key, notBefore: "261101000000Z", notAfter: "270129235959Z", extensions)
        }
        let other = element(0x30, element(0x06, [0x55, 0x1d, 0x0e]) + element(0x04, [0x04, 0x01, 0x2a]))
        guard !logs.isEmpty else {
            self.leaf = certificate(bytes([other]))
            return
        }
        let value = try SigningLog.extensionValue(
            of: logs, over: bytes([other]), issuerKey: Array(SHA256.hash(data: publicKey(7))), at: seconds)
        let oid: [UInt8] = [0x2b, 0x06, 0x01, 0x04, 0x01, 0xd6, 0x79, 0x02, 0x04, 0x02]
        self.leaf = certificate(bytes([other, element(0x30, element(0x06, oid) + element(0x04, value))]))
    }
}

private func publicKey(_ key: UInt8) -> [UInt8] {
    element(0x30, ed25519 + element(0x03, [0] + [UInt8](repeating: key, count: 32)))
}

private let ed25519 = element(0x30, [0x06, 0x03, 0x2b, 0x65, 0x70])

private func toBeSigned(key: UInt8, notBefore: String, notAfter: String, _ extensions: [[UInt8]]) -> [UInt8] {
    let validity = element(0x30, element(0x17, Array(notBefore.utf8)) + element(0x17, Array(notAfter.utf8)))
    let all = extensions.isEmpty ? [] : element(0xa3, element(0x30, Array(extensions.joined())))
    let name = element(0x30, [])
    return element(
        0x30,
        element(0xa0, [0x02, 0x01, 0x02]) + element(0x02, [1]) + ed25519 + name + validity + name + publicKey(key) + all
    )
}

private func certificate(_ toBeSigned: [UInt8]) -> [UInt8] {
    element(0x30, toBeSigned + ed25519 + element(0x03, [0] + [UInt8](repeating: 0, count: 64)))
}

private func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
    let count = UInt64(contents.count)
    let length =
        count < 0x80 ? number(count, 1) : count < 0x100 ? [0x81] + number(count, 1) : [0x82] + number(count, 2)
    return [tag] + length + contents
}

private func vector(_ bytes: [UInt8]) -> [UInt8] { number(UInt64(bytes.count), 2) + bytes }

private func number(_ number: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
}
