// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Crypto
import Testing

@testable import PinListRepository

@Suite("A DER signature becomes 64 bytes")
struct ECDSASignatureTests {
    @Test("as swift-crypto has it, with numbers that are short and numbers that are padded")
    func asSwiftCryptoHasItWithNumbersThatAreShortAndNumbersThatArePadded() throws {
        let key = P256.Signing.PrivateKey()
        // One number in 256 is short, half of them are padded: 2,000 signatures have all of it.
        for number in 0..<2_000 {
            let signature = try key.signature(for: Array("\(number)".utf8))
            #expect(ECDSASignature.raw(ofDER: Array(signature.derRepresentation)) == Array(signature.rawRepresentation))
        }
    }

    @Test(
        "and nothing else does",
        arguments: [
            "", "3000", "3006020101020101ff", "30060201010201", "3006020101020181", "300602010102010100",
            "30070201010202000100", "3009020101020101020101", "30810602010102010100", "3106020101020101",
            "30080202008102020001",
            "302702220100000000000000000000000000000000000000000000000000000000000000000000020101",
        ])
    func andNothingElseDoes(hexadecimal: String) {
        let bytes = stride(from: 0, to: hexadecimal.count / 2 * 2, by: 2).compactMap { place in
            UInt8(hexadecimal.dropFirst(place).prefix(2), radix: 16)
        }
        #expect(ECDSASignature.raw(ofDER: bytes) == nil)
    }

    @Test("small numbers are filled up with zeros")
    func smallNumbersAreFilledUpWithZeros() {
        let raw = ECDSASignature.raw(ofDER: [0x30, 0x06, 0x02, 0x01, 0x05, 0x02, 0x01, 0x07])
        #expect(raw == [UInt8](repeating: 0, count: 31) + [5] + [UInt8](repeating: 0, count: 31) + [7])
    }
}
