// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Crypto

@_spi(Tools) @testable import CertificateTransparency

/// A log of the tests' own, which really signs.
struct TestLog {
    /// A log's place in a list.
    struct Entry {
        var name = "log"
        var operatorName = "Operator"
        var kind = TransparencyLog.Kind.rfc6962
        var state = TransparencyLog.State.usable
        var interval: Range<Timestamp>?
        var previousOperators: [TransparencyLog.PreviousOperator] = []
    }

    let key: P256.Signing.PrivateKey
    let entry: Entry

    /// Makes a log with a new key.
    init(_ name: String = "log", _ change: (inout Entry) -> Void = { _ in }) {
        var entry = Entry()
        entry.name = name
        change(&entry)
        self.entry = entry
        self.key = P256.Signing.PrivateKey()
    }

    var publicKey: [UInt8] { Array(self.key.publicKey.derRepresentation) }

    var id: LogID { LogID(ofKey: self.publicKey) }

    /// The log as a list has it.
    var log: TransparencyLog {
        TransparencyLog(
            id: self.id, name: self.entry.name, operatorName: self.entry.operatorName,
            previousOperators: self.entry.previousOperators, kind: self.entry.kind, state: self.entry.state,
            interval: self.entry.interval, key: LogKey(subjectPublicKeyInfo: self.publicKey))
    }

    /// A timestamp over an entry.
    func timestamp(
        over entry: [UInt8], milliseconds: UInt64, extensions: [UInt8] = [0, 0, 5, 0, 0, 0, 0, 7]
    ) throws -> [UInt8] {
        let unsigned = SignedCertificateTimestamp(
            log: self.id, milliseconds: milliseconds, extensions: extensions, algorithm: LogKey.ecdsaWithSHA256,
            signature: [])
        let signature = try self.key.signature(for: unsigned.signedBytes(over: entry)).derRepresentation
        return [0] + self.id.bytes + bigEndian(milliseconds, 8) + vector(extensions) + LogKey.ecdsaWithSHA256
            + vector(Array(signature))
    }
}

/// A big-endian number.
func bigEndian(_ number: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
}

/// Bytes behind their length in two bytes.
func vector(_ bytes: [UInt8]) -> [UInt8] { bigEndian(UInt64(bytes.count), 2) + bytes }

/// A list of timestamps.
func timestampList(_ timestamps: [[UInt8]]) -> [UInt8] { vector(timestamps.flatMap { vector($0) }) }
