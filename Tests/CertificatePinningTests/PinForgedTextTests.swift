// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

/// Texts that look like a pin, to people or to another parser. Each is put behind every prefix.
@Suite("Pins, forged and damaged texts")
struct PinForgedTextTests {
    private static let prefixes = ["", "sha256/", "cert-sha256/", "sha256//"]

    @Test(
        "base64 that is not the one text of 32 bytes is no pin, in any form",
        arguments: [
            // The same digest with its two unused bits set: Foundation's decoder takes these three.
            "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa1=", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa2=",
            "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa3=",
            // URL-safe alphabet, missing and doubled padding, a character less and one more.
            "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0=", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0",
            "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0==", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa=",
            "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa00=", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIA",
            // Hexadecimal, blanks and line breaks inside, another letter case of a padding that is not one.
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "ungWv48Bz+pBQUDe Xa4iI7ADYaOWF3qctBD/YfIAFa0=", "ungWv48Bz+pBQUDe\nXa4iI7ADYaOWF3qctBD/YfIAFa0=",
            "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=\0", "", "=", "\u{3d}\u{338}",
        ])
    func base64ThatIsNotTheOneTextOf32BytesIsNoPinInAnyForm(text: String) {
        for prefix in Self.prefixes {
            #expect(throws: InputError(.pin, ""), "behind \"\(prefix)\"") { try Pin(prefix + text) }
            #expect(throws: InputError(.pin, ""), "behind \"\(prefix)\"") { try Pin(canonical: prefix + text) }
        }
    }

    @Test(
        "quotation marks of RFC 7469 that are missing, doubled, typographic or hidden behind marks",
        arguments: [
            "pin-sha256=ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=",
            "pin-sha256=\"ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=",
            "pin-sha256=\"", "pin-sha256=\"\"", "pin-sha256=", "pin-sha256=\"\"\"",
            "pin-sha256=\"\"ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=\"\"",
            "pin-sha256='ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='",
            "pin-sha256=\u{201c}ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=\u{201d}",
            "pin-sha256=\"ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=\";",
            "pin-sha512=\"ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=\"",
            "PIN-SHA256=\"ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=\"",
            // To Swift's Character each of these quotation marks is another one than `"`; to the bytes it is not.
            "pin-sha256=\"\u{301}ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=\"",
            "pin-sha256=\"ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=\"\u{301}",
            "pin-sha256=\"ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=\u{200d}\"",
            "pin-sha256=\"\u{600}ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=\"",
        ])
    func quotationMarksOfRFC7469ThatAreMissingDoubledTypographicOrHiddenBehindMarks(text: String) {
        #expect(throws: InputError(.pin, "")) { try Pin(text) }
    }

    @Test(
        "what cannot be seen, around or within a pin, is not ignored",
        arguments: [
            "\u{feff}", "\u{200b}", "\u{200e}", "\u{202e}", "\u{2066}", "\u{ad}", "\u{600}", "\u{301}", "\u{a0}",
            "\u{3000}", "\u{2028}", "\0", "\u{1b}[31m", "\r", "\n", "\u{b}", "\u{fe0f}", "\u{e0041}",
        ])
    func whatCannotBeSeenAroundOrWithinAPinIsNotIgnored(mark: String) {
        let base64 = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
        #expect(throws: Never.self) { try Pin(canonical: "sha256/\(base64)") }
        for text in [
            "\(mark)sha256/\(base64)", "sha256\(mark)/\(base64)", "sha256/\(mark)\(base64)", "sha256/\(base64)\(mark)",
        ] {
            #expect(throws: InputError(.pin, "")) { try Pin(text) }
            #expect(throws: InputError(.pin, "")) { try Pin(canonical: text) }
        }
    }

    @Test(
        "a prefix that only looks alike is refused",
        arguments: [
            "sha256\u{2044}", "sha256\u{2215}", "\u{455}ha256/", "sha２56/", "sha256\\", "sha256:", "sha256-",
            "sha256///", "cert-sha256//", "pin-sha256/", "sha512/", "sha384/", "sha1/", "md5/", "sha256/sha256/",
            "x-sha256/",
        ])
    func prefixThatOnlyLooksAlikeIsRefused(prefix: String) {
        #expect(throws: InputError(.pin, "")) { try Pin(prefix + "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=") }
    }

    @Test("a text of 16 MiB is refused before it is read, blanks included")
    func textOf16MiBIsRefusedBeforeItIsReadBlanksIncluded() {
        for filler in ["A", " ", "=", "sha256/"] {
            // In blocks: in a debug build a text is repeated slowly.
            let block = String(repeating: filler, count: 4_096 / filler.utf8.count)
            let text = String(repeating: block, count: 4_096)
            #expect(text.utf8.count > 16_000_000)
            #expect(throws: InputError(.pin, "")) { try Pin(text) }
            #expect(throws: InputError(.pin, "")) { try Pin(canonical: text) }
        }
    }

    @Test("the limit counts bytes and lies at 128: more blanks around a pin are refused")
    func limitCountsBytesAndLiesAt128MoreBlanksAroundAPinAreRefused() throws {
        let pin = "sha256/ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
        let blanks = String(repeating: " ", count: Pin.maximumTextLength - pin.utf8.count)
        #expect(try Pin(blanks + pin) == Pin(pin))
        #expect(throws: InputError(.pin, "")) { try Pin(" " + blanks + pin) }
    }

    @Test("one byte changed anywhere is another pin or none", arguments: [21] as [UInt64])
    func oneByteChangedAnywhereIsAnotherPinOrNone(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let text = Array("sha256/ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=".utf8)
        let pin = try Pin(canonical: String(decoding: text, as: UTF8.self))
        var others = 0
        for position in text.indices {
            for _ in 0..<64 {
                var changed = text
                changed[position] ^= UInt8.random(in: 1...127, using: &random)
                guard let other = try? Pin(canonical: String(decoding: changed, as: UTF8.self)) else { continue }
                #expect(other != pin)
                #expect(Array(other.description.utf8) == changed)
                others += 1
            }
        }
        // Most changes within the base64 give another pin; if none did, nothing would have been compared.
        #expect(others > 100)
    }
}
