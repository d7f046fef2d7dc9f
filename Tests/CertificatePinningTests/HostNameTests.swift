// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@Suite("Host names, normalised")
struct HostNameTests {
    @Test(
        "one host however it is written: CVE-2026-129482, where a trailing dot skipped the pins",
        arguments: [
            "api.example.com", "api.example.com.", "API.EXAMPLE.COM", "Api.Example.Com.", "aPI.eXAMPLE.cOM",
        ])
    func oneHostHoweverItIsWrittenCVE2026129482WhereATrailingDotSkippedThePins(text: String) throws {
        let host = try HostName(text)
        #expect(host.description == "api.example.com")
        #expect(!host.isAddress)
        #expect(host == (try HostName("api.example.com")))
        #expect(host.hashValue == (try HostName("api.example.com")).hashValue)
    }

    @Test(
        "names that are unusual and allowed stay as they are",
        arguments: [
            "localhost", "a", "_dmarc.example.com", "-a-.example.com", "a_b.example.com", "xn--mnchen-3ya.de",
            "1.example.com", "0x1.example.com", "1e100.net", "1.2.3.4.example.com", "3com.com", "a.b.c.d.e.f.g.h",
            "xn--", "0xn.com", "127.0.0.1.com", "--", "_", "999-1", "1a", "e0x1", "00x1",
        ])
    func namesThatAreUnusualAndAllowedStayAsTheyAre(text: String) throws {
        #expect(try HostName(text).description == text)
        #expect(try !HostName(text).isAddress)
    }

    @Test("only the ASCII letters are lowered, and the A-label of a name is compared as bytes")
    func onlyTheASCIILettersAreLoweredAndTheALabelOfANameIsComparedAsBytes() throws {
        #expect(try HostName("XN--MNCHEN-3YA.DE").description == "xn--mnchen-3ya.de")
        #expect(try HostName("xn--mnchen-3ya.de") != HostName("xn--mnchen-4ya.de"))
    }

    @Test(
        "names that are not ASCII are refused: the platform's A-label is what is compared",
        arguments: [
            "münchen.de", "mu\u{308}nchen.de", "例え.jp", "api\u{3002}example.com", "api\u{ff0e}example.com",
            "api\u{ff61}example.com", "ａｐｉ.example.com", "api.exam\u{430}ple.com", "api.example.com\u{200b}",
            "\u{feff}api.example.com", "api.example.com\u{202e}", "api.exa\u{ad}mple.com", "api.example.com\u{301}",
            "\u{212a}.example.com", "\u{130}.example.com", "straße.de", "api.example.\u{1d41c}om", "١٢٧.٠.٠.١",
            "１27.0.0.1", "\u{2488}.example.com", "api.example.com\u{fe52}", "[::１]", "api.example.com\u{0}\u{7f}\u{80}",
        ])
    func namesThatAreNotASCIIAreRefusedThePlatformsALabelIsWhatIsCompared(text: String) {
        #expect(throws: InputError(.host, "")) { try HostName(text) }
    }

    @Test("no other byte is taken in a name, wherever it stands")
    func noOtherByteIsTakenInANameWhereverItStands() {
        let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_".utf8)
        for byte in UInt8.min..<0x80 where byte != UInt8(ascii: ".") && byte != UInt8(ascii: ":") {
            let character = String(Unicode.Scalar(byte))
            for text in ["\(character)api.example.com", "api.exa\(character)mple.com", "api.example.com\(character)"] {
                #expect(((try? HostName(text)) != nil) == allowed.contains(byte), "byte \(byte) in \(text)")
            }
        }
    }

    @Test(
        "what is more than a host is refused, never cut down to one",
        arguments: [
            "api.example.com:443", "api.example.com:", "https://api.example.com", "//api.example.com",
            "api.example.com/", "user@api.example.com", "user:password@api.example.com", "api.example.com?x",
            "api.example.com#x", "api.example.com\\@evil.example", "api%2eexample.com", "api.example.com%00",
            "%61pi.example.com", "api.example.com\0.evil.example", "api.example.com\n", "\tapi.example.com",
            " api.example.com", "api.example.com ", "api example.com", "*.example.com", "*", "api.example.com;",
            "api,example.com", "'api.example.com'", "api.example.com\r\nHost: evil.example", "127.0.0.1:80",
            "127.0.0.1/8",
        ])
    func whatIsMoreThanAHostIsRefusedNeverCutDownToOne(text: String) {
        #expect(throws: InputError(.host, "")) { try HostName(text) }
    }

    @Test(
        "empty names and labels; one trailing dot is removed, never two",
        arguments: [
            "", ".", "..", "...", ".example.com", "api..example.com", "api.example.com..", "api.example.com...",
            "..com", ".com.", "a..", "[]", "[", "]", "[].", "[.]",
        ])
    func emptyNamesAndLabelsOneTrailingDotIsRemovedNeverTwo(text: String) {
        #expect(throws: InputError(.host, "")) { try HostName(text) }
    }

    @Test("a label has at most 63 bytes, first, between and last")
    func labelHasAtMost63BytesFirstBetweenAndLast() throws {
        let maximum = String(repeating: "a", count: HostName.maximumLabelLength)
        #expect(maximum.utf8.count == 63)
        for text in [maximum, "\(maximum).com", "api.\(maximum).com", "api.\(maximum)"] {
            #expect(try HostName(text).description == text)
            #expect(try HostName("\(text).").description == text)
        }
        for text in ["\(maximum)a", "\(maximum)a.com", "api.\(maximum)a.com", "api.\(maximum)a"] {
            #expect(throws: InputError(.host, "")) { try HostName(text) }
        }
    }

    @Test("a name has at most 253 bytes, its trailing dot not counted")
    func nameHasAtMost253BytesItsTrailingDotNotCounted() throws {
        let label = String(repeating: "a", count: 49)
        let maximum = Array(repeating: label, count: 5).joined(separator: ".") + ".com"
        #expect(maximum.utf8.count == HostName.maximumLength)
        #expect(try HostName(maximum).description == maximum)
        #expect(try HostName(maximum + ".").description == maximum)
        #expect(throws: InputError(.host, "")) { try HostName("a" + maximum) }
        #expect(throws: InputError(.host, "")) { try HostName("a" + maximum + ".") }
        #expect(throws: InputError(.host, "")) { try HostName(maximum + "..") }
    }

    @Test("a text of 16 MiB is refused before it is copied", arguments: ["a", ".", ":", "1", "[", "a."])
    func textOf16MiBIsRefusedBeforeItIsCopied(filler: String) {
        // In blocks: in a debug build a text is repeated slowly.
        let block = String(repeating: filler, count: 4_096 / filler.utf8.count)
        let text = String(repeating: block, count: 4_096)
        #expect(text.utf8.count == 16 * 1_048_576)
        #expect(throws: InputError(.host, "")) { try HostName(text) }
    }

    @Test(
        "normalising what is normalised changes nothing, and tells names and addresses apart",
        arguments: [41] as [UInt64])
    func normalisingWhatIsNormalisedChangesNothingAndTellsNamesAndAddressesApart(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let alphabet = Array("aZ09xf-_.:[]".utf8)
        var accepted = 0
        for _ in 0..<20_000 {
            let length = Int.random(in: 1...12, using: &random)
            let bytes = (0..<length).map { _ in alphabet[Int.random(in: alphabet.indices, using: &random)] }
            guard let host = try? HostName(String(decoding: bytes, as: UTF8.self)) else { continue }
            accepted += 1
            #expect(try HostName(host.description) == host)
            #expect(try HostName(host.description).isAddress == host.isAddress)
            #expect((IPAddress(host) != nil) == host.isAddress)
            #expect(!host.description.hasSuffix(".") && !host.description.contains("["))
        }
        #expect(accepted > 1_000)
    }
}
