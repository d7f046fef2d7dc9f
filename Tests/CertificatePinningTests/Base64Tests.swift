// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Testing

@Suite("Base64, canonical alone")
struct Base64Tests {
    @Test(
        "the vectors of RFC 4648, section 10, both ways",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func vectorsOfRFC4648Section10BothWays(plain: String, encoded: String) {
        #expect(Base64.encode(plain.utf8) == encoded)
        #expect(Base64.decode(encoded.utf8) == Array(plain.utf8))
    }

    @Test("every value of the alphabet, both ways")
    func everyValueOfTheAlphabetBothWays() {
        let text = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        // 64 values of six bits, counted up: the bytes are Python's base64.b64decode of the same text.
        let bytes: [UInt8] = [
            0, 16, 131, 16, 81, 135, 32, 146, 139, 48, 211, 143, 65, 20, 147, 81, 85, 151, 97, 150, 155, 113, 215, 159,
            130, 24, 163, 146, 89, 167, 162, 154, 171, 178, 219, 175, 195, 28, 179, 211, 93, 183, 227, 158, 187, 243,
            223, 191,
        ]
        #expect(Base64.decode(text.utf8) == bytes)
        #expect(Base64.encode(bytes) == text)
    }

    @Test(
        "a second text for the same bytes is refused: unused bits that are set",
        arguments: ["Zh==", "Zv==", "Zi==", "Zm9=", "Zm+=", "AB==", "AAB=", "//==", "///="])
    func secondTextForTheSameBytesIsRefusedUnusedBitsThatAreSet(text: String) {
        #expect(Base64.decode(text.utf8) == nil)
    }

    @Test(
        "padding that is missing, doubled, early or alone is refused",
        arguments: [
            "Zg", "Zg=", "Zm8", "Z", "Z===", "=", "==", "===", "====", "Zg==Zg==", "Zg==Zm9v", "Zm8=Zm9v", "Z=g=",
            "=Zg=", "==Zg", "Zm9v====", "Zg=g", "Zm9vZg=", "Zm9v=", "Zm9v==",
        ])
    func paddingThatIsMissingDoubledEarlyOrAloneIsRefused(text: String) {
        #expect(Base64.decode(text.utf8) == nil)
    }

    @Test(
        "nothing outside the standard alphabet is skipped or taken for another character",
        arguments: [
            "Zm9v\n", "Zm9\nvZm9v", " Zm9v", "Zm9v ", "Zm-v", "Zm_v", "Zm.v", "Zm9v\0\0\0\0", "Zm\u{e9}v",
            "Zm9\u{301}v", "Ｚm9v", "Zm9v\r\n\r\n",
        ])
    func nothingOutsideTheStandardAlphabetIsSkippedOrTakenForAnotherCharacter(text: String) {
        #expect(Base64.decode(text.utf8) == nil)
    }

    @Test("no byte outside the alphabet stands for a value")
    func noByteOutsideTheAlphabetStandsForAValue() {
        let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        for byte in UInt8.min...UInt8.max {
            #expect((Base64.decode([byte, byte, byte, byte]) != nil) == alphabet.contains(byte), "byte \(byte)")
        }
    }

    @Test("random bytes are written as Foundation writes them, and read back", arguments: [1, 2, 3] as [UInt64])
    func randomBytesAreWrittenAsFoundationWritesThemAndReadBack(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for length in 0..<200 {
            let bytes = random.bytes(length)
            let text = Base64.encode(bytes)
            #expect(text == Data(bytes).base64EncodedString())
            #expect(Base64.decode(text.utf8) == bytes)
        }
    }

    @Test("of all texts of four characters, exactly those that Foundation would write are read")
    func ofAllTextsOfFourCharactersExactlyThoseThatFoundationWouldWriteAreRead() {
        let characters = Array("AQZgz059+/=-_ \n".utf8)
        var accepted = 0
        for first in characters {
            for second in characters {
                for third in characters {
                    for fourth in characters {
                        let text = [first, second, third, fourth]
                        let foundation = Data(base64Encoded: Data(text)).map { [UInt8]($0) }
                        let isCanonical = foundation.map { Data($0).base64EncodedData() == Data(text) } ?? false
                        #expect(Base64.decode(text) == (isCanonical ? foundation : nil))
                        accepted += isCanonical ? 1 : 0
                    }
                }
            }
        }
        // Guards the comparison itself: ten characters have a value, so 10,000 texts need no padding.
        #expect(accepted > 10_000)
    }
}
