// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AppAttestation
import CertificatePinning
import Foundation
import Testing

/// Bytes with something wrong in them, from a seed: nothing ends the process, and what is accepted is what was signed.
@Suite("Hostile bytes")
struct HostileBytesTests {
    /// SplitMix64: the same numbers each time.
    private struct Numbers: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            self.state &+= 0x9e37_79b9_7f4a_7c15
            var number = self.state
            number = (number ^ number >> 30) &* 0xbf58_476d_1ce4_e5b9
            number = (number ^ number >> 27) &* 0x94d0_49bb_1331_11eb
            return number ^ number >> 31
        }
    }

    /// Changes, repeats, cuts out or doubles a piece.
    private static func damaged(_ bytes: [UInt8], by numbers: inout Numbers) -> [UInt8] {
        var bytes = bytes
        for _ in 0...Int.random(in: 0..<3, using: &numbers) {
            guard bytes.count > 1 else { return bytes }
            // Half of them at the begin, where the structure is.
            let end = Bool.random(using: &numbers) ? bytes.count : min(bytes.count, 80)
            let place = Int.random(in: 0..<end, using: &numbers)
            let length = Int.random(in: 1...min(16, bytes.count - place), using: &numbers)
            switch Int.random(in: 0..<4, using: &numbers) {
            case 0: bytes[place] = [0, 0x7f, 0x80, 0x84, 0xff].randomElement(using: &numbers) ?? 0
            case 1: bytes[place] = UInt8.random(in: 0...255, using: &numbers)
            case 2: bytes.removeSubrange(place..<(place + length))
            default: bytes.insert(contentsOf: bytes[place..<(place + length)], at: place)
            }
        }
        return bytes
    }

    @Test("attestations, assertions and receipts that were damaged end no process")
    func attestationsAssertionsAndReceiptsThatWereDamagedEndNoProcess() async throws {
        let (kit, receipts) = (try AttestationKit(), try ReceiptKit())
        let time = Timestamp(secondsSince1970: KitCertificate.time)
        let request = Array("a request".utf8)
        let attestation = try kit.attestation { $0.extensions = AttestationKit.extensions(category: [4, 0, 0, 0]) }
        let assertion = try kit.assertion(request, extensions: AttestationKit.extensions(category: [4, 0, 0, 0]))
        let signed = try [true, false].map { isIndefinite in
            try receipts.receipt {
                $0.isIndefinite = isIndefinite
                $0.hasAttributes = isIndefinite
            }
        }
        let attestations = AttestationVerifier(
            appID: AttestationKit.appID, environment: .production, root: kit.root.der)
        let assertions = AssertionVerifier(appID: AttestationKit.appID)
        let verifier = ReceiptVerifier(appID: nil, anchor: .root(receipts.root.der))
        let known = KnownKey(
            try #require(AttestedKey(x963: kit.point)), counter: 0, namesCategory: true, namesBundleVersion: true)
        var numbers = Numbers(state: 42)
        for _ in 0..<2_000 {
            let one = Self.damaged(attestation, by: &numbers)
            if let verified = try? await attestations.verify(
                one, keyID: kit.keyID, challenge: .bytes(AttestationKit.challenge), at: time)
            {
                #expect(verified.key.x963 == kit.point && verified.category == .appStore)
            }
            let two = Self.damaged(assertion, by: &numbers)
            if let verified = try? await assertions.verify(
                two, by: known, clientData: .bytes(request), isChallengeGiven: { true })
            {
                #expect(verified.counter == 1 && verified.category == .appStore)
            }
            let three = Self.damaged(try #require(signed.randomElement(using: &numbers)), by: &numbers)
            if let receipt = try? await verifier.verify(three, at: time) {
                #expect(receipt.appID == AttestationKit.appID && receipt.certificate == receipts.attested.der)
            }
        }
    }
}
#endif
