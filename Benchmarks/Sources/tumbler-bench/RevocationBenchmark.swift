// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Crypto
@_spi(Tools) import PathValidation

/// A revocation list of 500,000 entries: reading it beside SHA-256 over its bytes and the check of its signature, and a
/// look-up in it beside a bare binary search over as many serial numbers.
struct RevocationBenchmark {
    private static let count = 500_000

    /// How many look-ups there are in a run: as many as it takes to leave the processor's caches.
    private static let lookUps = 1_024

    func run(_ report: inout Report) throws {
        print("A revocation list of \(Self.count) entries:")
        let key = P256.Signing.PrivateKey()
        let made = try Self.list(signedBy: key)
        report.figure("size", "\(made.der.count) bytes")
        let lists = try RevocationLists([made.der])
        guard lists.revokedCount == Self.count else {
            report.fails("the list has all of its entries")
            return
        }
        let signature = try P256.Signing.ECDSASignature(derRepresentation: made.signature)

        let read = Subject(name: "reading it") { keep(try? RevocationLists([made.der])) }
        let bare = Subject(name: "SHA-256 over its bytes, and its signature") {
            keep(key.publicKey.isValidSignature(signature, for: made.der))
        }
        let times = Measurement.nanoseconds(of: [read, bare], iterations: 1, rounds: 20)
        for (subject, time) in zip([read, bare], times) { report.time(subject.name, time) }
        report.limit("reading : SHA-256 and the signature", times[0] / times[1], atMost: 2)

        // Every other one is in it.
        let step = Self.count / Self.lookUps * 2
        let present = stride(from: 0, to: Self.count, by: step).map { made.serials[$0] }
        let wanted = present.flatMap { [$0, Serial(high: $0.high, low: $0.low ^ 1)] }
        let bytes = wanted.map(\.bytes)
        let found = bytes.map { lists.entry(with: $0) != nil }
        let sorted = made.serials.sorted()
        guard found == wanted.map({ Self.isFound($0, in: sorted) }), found.count(where: { $0 }) >= present.count else {
            report.fails("both find the same")
            return
        }
        let lookUp = Subject(name: "\(bytes.count) look-ups, every other one in the list") {
            for serial in bytes { keep(lists.entry(with: serial)) }
        }
        let search = Subject(name: "\(bytes.count) bare binary searches") {
            for serial in wanted { keep(Self.isFound(serial, in: sorted)) }
        }
        let lookUpTimes = Measurement.nanoseconds(of: [lookUp, search], iterations: 4, rounds: 50)
        for (subject, time) in zip([lookUp, search], lookUpTimes) { report.time(subject.name, time) }
        report.limit("look-up : bare binary search", lookUpTimes[0] / lookUpTimes[1], atMost: 4)
    }

    /// A serial number of sixteen octets.
    private struct Serial: Comparable {
        let high: UInt64
        let low: UInt64

        var bytes: [UInt8] {
            [self.high, self.low].flatMap { half in
                stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: half >> UInt64($0)) }
            }
        }

        static func < (left: Serial, right: Serial) -> Bool {
            left.high == right.high ? left.low < right.low : left.high < right.high
        }
    }

    private static func isFound(_ wanted: Serial, in sorted: [Serial]) -> Bool {
        var range = 0..<sorted.count
        while range.count > 1 {
            let middle = range.lowerBound + range.count / 2
            range = wanted < sorted[middle] ? range.lowerBound..<middle : middle..<range.upperBound
        }
        return range.first.map { sorted[$0] == wanted } ?? false
    }

    /// A SEQUENCE, its length in the shortest form.
    private static func sequence(_ contents: [UInt8]) -> [UInt8] {
        let octets = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: contents.count >> $0) }.drop { $0 == 0 }
        guard contents.count >= 0x80 else { return [0x30, UInt8(contents.count)] + contents }
        return [0x30, 0x80 | UInt8(octets.count)] + octets + contents
    }

    /// A list as CAs of the public web have them: serial numbers of sixteen octets, a reason in every third entry.
    private static func list(
        signedBy key: P256.Signing.PrivateKey
    ) throws -> (der: [UInt8], signature: [UInt8], serials: [Serial]) {
        let algorithm: [UInt8] = [0x30, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]
        let time = [0x17, 13] + Array("260101000000Z".utf8)
        let reason = self.sequence(self.sequence([0x06, 3, 0x55, 0x1d, 21, 0x04, 3, 0x0a, 1, 4]))
        var random = SystemRandomNumberGenerator()
        var serials: [Serial] = []
        var entries: [UInt8] = []
        entries.reserveCapacity(48 * self.count)
        for number in 0..<self.count {
            // Positive, and of sixteen octets in DER: the first one is 0x40 to 0x7f.
            let high = random.next() & 0x3fff_ffff_ffff_ffff | 0x4000_0000_0000_0000
            let serial = Serial(high: high, low: random.next())
            serials.append(serial)
            entries += self.sequence([0x02, 16] + serial.bytes + time + (number % 3 == 0 ? reason : []))
        }
        let toBeSigned = self.sequence([0x02, 1, 1] + algorithm + [0x30, 0] + time + self.sequence(entries))
        let signature = Array(try key.signature(for: toBeSigned).derRepresentation)
        return (
            self.sequence(toBeSigned + algorithm + [0x03, UInt8(signature.count + 1), 0] + signature), signature,
            serials
        )
    }
}
