// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Keys that never leave a token", .wants(.softhsm), .needsSoftHSM, .needsOpenSSL)
struct TokenSigningTests {
    private static let p256 = "pkcs11:token=trial;object=p256"
    private static let ed25519 = "pkcs11:token=trial;id=%02?pin-source=pin"

    /// Runs `body` with a token, two keys on it, a signed root that names both for lists, and an unsigned list.
    private func withToken(_ body: (SoftHSM, URL) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let token = try await SoftHSM(in: folder)
            try await token.makeKey("p256", id: "01", type: "EC:prime256v1")
            try await token.makeKey("ed25519", id: "02", type: "EC:edwards25519")
            try await CommandRun.makeKey("root", in: folder)
            let pins = "--pins '\(Self.p256)' --pins '\(Self.ed25519)'"
            let new = #""$0" root new --name com.example.app --root root.pub \#(pins)"#
            let lines = [
                "\(new) --threshold pins=2 --at \(MetadataFixture.issued) -o root.payload",
                #""$0" sign root.payload --key root --yes -o root.json"#,
            ]
            for line in lines { try await CommandRun.shell("\(token.environment) \(line)", in: folder).expectSuccess() }
            try folder.write(MetadataFixture.list(), as: "list")
            try await body(token, folder)
        }
    }

    private func sign(_ keys: [String], _ options: String = "", _ token: SoftHSM, in folder: URL) async throws
        -> CommandRun
    {
        let keys = keys.map { "--key '\($0)'" }.joined(separator: " ")
        let line = #"\#(token.environment) "$0" sign list --root root.json --yes -o pins.json \#(keys) \#(options)"#
        return try await CommandRun.shell(line, in: folder)
    }

    @Test("a file with the PIN that others can read is refused, and says what to type")
    func fileWithThePINThatOthersCanReadIsRefused() async throws {
        try await self.withToken { token, folder in
            let pin = folder.appendingPathComponent("pin").path
            for mode in [0o644, 0o640, 0o604] {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: pin)
                let run = try await self.sign([Self.ed25519], "", token, in: folder)
                run.expectError(2, hint: true)
                #expect(run.errors.contains("chmod 600 pin"), "\(run)")
            }
        }
    }

    @Test("sign lists: P-256 and Ed25519, with the PIN from a file and from pin-source")
    func signListsP256AndEd25519WithThePINFromAFileAndFromPinSource() async throws {
        try await self.withToken { token, folder in
            let one = try await self.sign([Self.p256], "--passphrase-file pin", token, in: folder)
            #expect(one.exitCode == 1, "\(one)")
            #expect(one.lines.last == "root 1: 1 of 2 signatures, 1 still missing", "\(one)")
            let both = try await self.sign(
                [Self.ed25519, Self.p256], "--passphrase-file pin --passphrase-file pin", token, in: folder)
            try both.expectSuccess()
            let verify = ["verify", "pins.json", "--root", "root.json", "--at", MetadataFixture.now]
            try await CommandRun.tumbler(verify, in: folder).expectSuccess()
        }
    }

    @Test("show their public half without a PIN, and it is the one that the token's own tool shows")
    func showTheirPublicHalfWithoutAPINAndItIsTheOneThatTheTokensOwnToolShows() async throws {
        let module = try #require(SoftHSM.module)
        let openssl = try #require(OpenSSL.installed)
        try await self.withToken { token, folder in
            let line = #"\#(token.environment) "$0" key show '\#(Self.p256)' --public p256.pub"#
            let shown = try await CommandRun.shell(line, in: folder)
            shown.expectResult()
            let read =
                "pkcs11-tool --module \(module) --token-label trial --read-object --type pubkey --id 01 -o p256.der"
            _ = try await openssl.shell("\(token.environment) \(read)", in: folder)
            let pin = try await openssl.pin(of: "pkey -pubin -inform DER -in p256.der", in: folder)
            #expect(shown.lines.contains("pin \(pin)"), "\(shown)")
            #expect(try await openssl.pin(of: "pkey -pubin -in p256.pub", in: folder) == pin)
        }
    }

    @Test("do not sign with a wrong PIN, without a token, without a key, or with one that two fit; nothing is written")
    func doNotSignWithAWrongPINWithoutATokenWithoutAKeyOrWithOneThatTwoFit() async throws {
        try await self.withToken { token, folder in
            let wrong = try folder.write("9999", as: "wrong").path
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: wrong)
            try await token.makeKey("p256", id: "03", type: "EC:prime256v1")
            let cases = [
                (Self.ed25519.replacing("=pin", with: "=wrong"), "", "does not accept this PIN"),
                (Self.ed25519.replacing("=pin", with: "=missing"), "", "no such file"),
                ("pkcs11:token=trail;id=%02?pin-source=pin", "", "no such token"),
                ("pkcs11:token=trial;id=%09?pin-source=pin", "", "no such private key"),
                (Self.p256, "--passphrase-file pin", "2 keys fit"),
                ("pkcs11:token=trial;id=%03", "--passphrase-file pin", "may not sign pins under root 1"),
                ("pkcs11:token=trial;id=%01", "", "there is no terminal"),
            ]
            for (key, options, reason) in cases {
                let run = try await self.sign([key], options, token, in: folder)
                run.expectError(reason == "there is no terminal" ? 64 : 2)
                #expect(run.errors.contains(reason), "\(run)")
                #expect(!run.errors.contains("9999"))
            }
            #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("pins.json").path))
        }
    }
}
