// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@Suite("Pins, as they are written")
struct PinWrittenFormsTests {
    /// `printf abc | openssl dgst -sha256 -binary | base64`, and the same in hexadecimal.
    private static let base64 = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="
    private static let digest: [UInt8] = [
        0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23,
        0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad,
    ]

    @Test("the digest and its text are openssl's")
    func digestAndItsTextAreOpenssls() throws {
        let pin = Pin(kind: .publicKey, hashing: Array("abc".utf8))
        #expect(pin.digest == Self.digest)
        #expect(pin.description == "sha256/" + Self.base64)
        #expect(Pin(kind: .certificate, hashing: Array("abc".utf8)).description == "cert-sha256/" + Self.base64)
        #expect(Pin(kind: .publicKey, digest: Self.digest) == pin)
        // printf '' | openssl dgst -sha256 -binary | base64
        let ofNothing = try Pin("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
        #expect(Pin(kind: .publicKey, hashing: []) == ofNothing)
    }

    @Test(
        "every written form of one pin is the same pin",
        arguments: [
            "sha256/\(base64)", base64, "pin-sha256=\"\(base64)\"", "sha256//\(base64)", "  sha256/\(base64)\t",
            "\t\(base64) ", " pin-sha256=\"\(base64)\" ",
        ])
    func everyWrittenFormOfOnePinIsTheSamePin(text: String) throws {
        #expect(try Pin(text) == Pin(kind: .publicKey, hashing: Array("abc".utf8)))
    }

    @Test("a certificate pin has one form, and is not the public key pin with the same digest")
    func certificatePinHasOneFormAndIsNotThePublicKeyPinWithTheSameDigest() throws {
        let pin = try Pin("cert-sha256/" + Self.base64)
        #expect(pin.kind == .certificate)
        #expect(pin == (try Pin(canonical: "cert-sha256/" + Self.base64)))
        #expect(pin != (try Pin(Self.base64)))
        #expect(Set([pin, try Pin(Self.base64)]).count == 2)
    }

    @Test(
        "signed lists know the canonical form alone",
        arguments: [
            base64, "pin-sha256=\"\(base64)\"", "sha256//\(base64)", " sha256/\(base64)", "sha256/\(base64) ",
            "sha256/\(base64)\n", "SHA256/\(base64)", "sha-256/\(base64)", "sha1/\(base64)", "sha256=\(base64)",
            "sha256/", "", "\u{feff}sha256/\(base64)", "cert-sha256//\(base64)", "CERT-SHA256/\(base64)",
        ])
    func signedListsKnowTheCanonicalFormAlone(text: String) {
        #expect(throws: InputError(.pin, "")) { try Pin(canonical: text) }
    }

    /// Digests whose base64 begins with a slash: Python's SHA-256 of "pin 62", "pin 125" and "pin 3713".
    ///
    /// One pin in 64 is such a one. `sha256//2N+…` is then the canonical form and has 51 characters; curl's form of any
    /// pin has 52.
    @Test(
        "a canonical pin whose base64 begins with a slash is not mistaken for curl's form",
        arguments: [
            ("pin 62", "/2N+TWOakHYlA9zx6/B5mUvF8Ldsvwxg69Mi9sevqqk="),
            ("pin 125", "/YIYcXyoITuJIiN+T/+/WZO8nQPRCFtKJbWzglM9M9Y="),
            ("pin 3713", "//EjN0e/SH+EEPjKt2O5k47ELZwrDDmu72O6avAYYiE="),
        ])
    func canonicalPinWhoseBase64BeginsWithASlashIsNotMistakenForCurlsForm(hashed: String, base64: String) throws {
        let pin = Pin(kind: .publicKey, hashing: Array(hashed.utf8))
        #expect(pin.description == "sha256/" + base64)
        #expect(try Pin(canonical: "sha256/" + base64) == pin)
        #expect(try Pin("sha256//" + base64) == pin)
        #expect(try Pin(base64) == pin)
        #expect(try Pin("sha256/" + base64) == pin)
    }

    @Test("what a pin writes is what it reads, for any digest and both kinds", arguments: [11, 12] as [UInt64])
    func whatAPinWritesIsWhatItReadsForAnyDigestAndBothKinds(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let digest = random.bytes(Pin.digestLength)
            for kind in [Pin.Kind.publicKey, .certificate] {
                let pin = try #require(Pin(kind: kind, digest: digest))
                #expect(pin.digest == digest)
                #expect(try Pin(canonical: pin.description) == pin)
            }
        }
    }

    @Test("a digest has 32 bytes", arguments: [0, 1, 20, 31, 33, 48, 64])
    func digestHas32Bytes(length: Int) {
        #expect(Pin(kind: .publicKey, digest: [UInt8](repeating: 7, count: length)) == nil)
        #expect(throws: InputError(.pin, "")) { try Pin(Base64.encode([UInt8](repeating: 7, count: length))) }
        #expect(throws: InputError(.pin, "")) {
            try Pin(canonical: "sha256/" + Base64.encode([UInt8](repeating: 7, count: length)))
        }
    }
}
