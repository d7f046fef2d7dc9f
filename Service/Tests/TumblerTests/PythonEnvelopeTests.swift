// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Envelopes of ours and of others", .needsOpenSSL)
struct PythonEnvelopeTests {
    private static let environment = URL(fileURLWithPath: "/usr/bin/env")

    /// Reads an envelope and the keys of its root, as a programmer would write it who never saw our code. The envelope
    /// must carry a threshold of two.
    private static let verify = #"""
        import base64, hashlib, json, sys
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec, ed25519, utils
        from cryptography.hazmat.primitives.serialization import load_der_public_key
        envelope = json.load(open(sys.argv[1]))
        root = json.loads(base64.b64decode(json.load(open(sys.argv[2]))["payload"]))
        kind, payload = envelope["payloadType"].encode(), base64.b64decode(envelope["payload"], validate=True)
        pae = b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)
        good = set()
        for signature in envelope["signatures"]:
            der = base64.b64decode(root["keys"][signature["keyid"]]["publicKey"], validate=True)
            assert hashlib.sha256(der).hexdigest() == signature["keyid"]
            key, raw = load_der_public_key(der), base64.b64decode(signature["sig"], validate=True)
            assert len(raw) == 64
            if isinstance(key, ed25519.Ed25519PublicKey): key.verify(raw, pae)
            else:
                r, s = (int.from_bytes(part, "big") for part in (raw[:32], raw[32:]))
                key.verify(utils.encode_dss_signature(r, s), pae, ec.ECDSA(hashes.SHA256()))
            good.add(signature["keyid"])
        assert len(good) == root["roles"]["pins"]["threshold"] == 2, good
        print("verified", json.loads(payload)["version"])
        """#

    /// The same by securesystemslib. It wants P-256 signatures in DER and gives them in DER; the format has raw bytes.
    private static let verifyWithSecureSystemsLib = #"""
        import base64, json, sys
        from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
        from cryptography.hazmat.primitives.serialization import load_der_public_key
        from securesystemslib.dsse import Envelope
        from securesystemslib.signer import SSlibKey
        root = json.loads(base64.b64decode(json.load(open(sys.argv[2]))["payload"]))
        keys = [SSlibKey.from_crypto(load_der_public_key(base64.b64decode(key["publicKey"])), keyid)
                for keyid, key in root["keys"].items()]
        envelope = json.load(open(sys.argv[1]))
        for signature in envelope["signatures"]:
            if root["keys"][signature["keyid"]]["algorithm"] == "ecdsa-p256-sha256":
                raw = base64.b64decode(signature["sig"])
                der = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
                signature["sig"] = base64.b64encode(der).decode()
        envelope = Envelope.from_dict(envelope)
        assert len(envelope.verify(keys, 2)) == 2
        print("verified", json.loads(envelope.payload)["version"])
        """#

    /// Makes keys, a root that it signs itself and a list that both keys sign, without a line of ours.
    private static let sign = #"""
        import base64, hashlib, json, sys
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec, ed25519, utils
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
        first, second = ed25519.Ed25519PrivateKey.generate(), ec.generate_private_key(ec.SECP256R1())
        def der(key): return key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        def keyid(key): return hashlib.sha256(der(key)).hexdigest()
        def sig(key, message):
            if key is first: return key.sign(message)
            r, s = utils.decode_dss_signature(key.sign(message, ec.ECDSA(hashes.SHA256())))
            return r.to_bytes(32, "big") + s.to_bytes(32, "big")
        def write(name, kind, payload, keys):
            kind = f"application/vnd.tumbler.{kind}+json"
            pae = b"DSSEv1 %d %b %d %b" % (len(kind), kind.encode(), len(payload), payload)
            signatures = [{"sig": base64.b64encode(sig(key, pae)).decode(), "keyid": keyid(key)} for key in keys]
            envelope = {"signatures": signatures, "payload": base64.b64encode(payload).decode(), "payloadType": kind}
            json.dump(envelope, open(name, "w"), indent=4)
        role = {"keyids": [keyid(first), keyid(second)], "threshold": 2}
        root = {"roles": {"pins": role, "root": role}, "type": "root", "specVersion": "1.0", "name": "com.example.app",
                "version": 1, "issuedAt": "2026-11-21T00:00:00Z", "expiresAt": "2029-11-20T00:00:00Z",
                "keys": {keyid(key): {"publicKey": base64.b64encode(der(key)).decode(), "algorithm": name}
                         for key, name in ((first, "ed25519"), (second, "ecdsa-p256-sha256"))}}
        write("root.json", "root", json.dumps(root, indent=1).encode(), [first, second])
        write("pins.json", "pins", open("list", "rb").read(), [first, second])
        write("one.json", "pins", open("list", "rb").read(), [second, second])
        """#

    /// Signs a list with securesystemslib: Ed25519, and P-256, whose signature is DER there.
    private static let signWithSecureSystemsLib = #"""
        import base64, hashlib, json
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key
        from securesystemslib.dsse import Envelope
        from securesystemslib.signer import CryptoSigner
        class Ours:
            def __init__(self, signer):
                self.signer, key = signer, signer.public_key
                public = signer._private_key.public_key()
                self.der = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
                self.keyid = hashlib.sha256(self.der).hexdigest()
            def sign(self, message):
                signature = self.signer.sign(message)
                signature.keyid = self.keyid
                return signature
        first, second = Ours(CryptoSigner.generate_ed25519()), Ours(CryptoSigner.generate_ecdsa())
        def write(name, kind, payload, signer):
            envelope = Envelope(payload, f"application/vnd.tumbler.{kind}+json", {})
            envelope.sign(signer)
            json.dump(envelope.to_dict(), open(name, "w"))
        role = {"keyids": [first.keyid, second.keyid], "threshold": 1}
        root = {"type": "root", "specVersion": "1.0", "name": "com.example.app", "version": 1,
                "issuedAt": "2026-11-21T00:00:00Z", "expiresAt": "2029-11-20T00:00:00Z",
                "keys": {key.keyid: {"algorithm": name, "publicKey": base64.b64encode(key.der).decode()}
                         for key, name in ((first, "ed25519"), (second, "ecdsa-p256-sha256"))},
                "roles": {"root": role, "pins": role}}
        write("root.json", "root", json.dumps(root).encode(), first)
        write("pins.json", "pins", open("list", "rb").read(), first)
        write("der.json", "pins", open("list", "rb").read(), second)
        """#

    @Sendable private static func hasModules() async throws -> Bool {
        let python = try await FinishedProcess.run(
            self.environment, ["python3", "-c", "import cryptography, securesystemslib"],
            in: FileManager.default.temporaryDirectory)
        return python.status == 0
    }

    private func python(_ script: String, _ arguments: [String] = [], in folder: URL) async throws -> String {
        let run = try await FinishedProcess.run(Self.environment, ["python3", "-c", script] + arguments, in: folder)
        guard run.status == 0 else { throw OpenSSL.Failure(description: String(decoding: run.errors, as: UTF8.self)) }
        return String(decoding: run.output, as: UTF8.self)
    }

    @Test(
        "what we sign verifies with securesystemslib, and with a few lines over cryptography",
        .enabled("there is no python3 with cryptography and securesystemslib", Self.hasModules))
    func whatWeSignVerifiesWithSecuresystemslibAndWithAFewLinesOverCryptography() async throws {
        try await withTemporaryFolder { folder in
            try await CommandRun.makeKey("a", "p256", in: folder)
            try await CommandRun.makeKey("b", "ed25519", in: folder)
            try folder.write(MetadataFixture.list(), as: "list")
            let lines = [
                "root new --name com.example.app --root a.pub --pins a.pub --pins b.pub --threshold pins=2 -o root",
                "sign root --key a --yes -o root.json",
                "sign list --key a --key b --root root.json --yes -o pins.json",
            ]
            for line in lines { try await CommandRun.shell(#""$0" \#(line)"#, in: folder).expectSuccess() }
            for script in [Self.verify, Self.verifyWithSecureSystemsLib] {
                #expect(try await self.python(script, ["pins.json", "root.json"], in: folder) == "verified 7\n")
            }
            // The same scripts say no, so their yes means something.
            let damaged = try folder.text(of: "pins.json").replacing("tumbler.pins", with: "tumbler.pens")
            try folder.write(damaged, as: "damaged.json")
            for script in [Self.verify, Self.verifyWithSecureSystemsLib] {
                await #expect(throws: OpenSSL.Failure.self) {
                    try await self.python(script, ["damaged.json", "root.json"], in: folder)
                }
            }
        }
    }

    @Test(
        "what a few lines over cryptography sign verifies here, in any order of members",
        .enabled("there is no python3 with cryptography and securesystemslib", Self.hasModules))
    func whatAFewLinesOverCryptographySignVerifiesHereInAnyOrderOfMembers() async throws {
        try await withTemporaryFolder { folder in
            try folder.write(MetadataFixture.list(), as: "list")
            _ = try await self.python(Self.sign, in: folder)
            let options = ["--root", "root.json", "--at", MetadataFixture.now]
            let run = try await CommandRun.tumbler(["verify", "pins.json"] + options, in: folder)
            run.expectResult()
            #expect(run.lines.count { $0.hasPrefix("signed by ") } == 2)
            // One key that signs twice is one key.
            let one = try await CommandRun.tumbler(["verify", "one.json"] + options, in: folder)
            #expect(one.lines.first?.hasPrefix("refused pins: threshold-not-met: ") == true, "\(one)")
        }
    }

    @Test(
        "what securesystemslib signs with Ed25519 verifies here; its DER signatures of P-256 are refused",
        .enabled("there is no python3 with cryptography and securesystemslib", Self.hasModules))
    func whatSecuresystemslibSignsWithEd25519VerifiesHere() async throws {
        try await withTemporaryFolder { folder in
            try folder.write(MetadataFixture.list(), as: "list")
            _ = try await self.python(Self.signWithSecureSystemsLib, in: folder)
            let options = ["--root", "root.json", "--at", MetadataFixture.now]
            try await CommandRun.tumbler(["verify", "pins.json"] + options, in: folder).expectSuccess()
            let der = try await CommandRun.tumbler(["verify", "der.json"] + options, in: folder)
            #expect(der.lines.first?.hasPrefix("refused pins: unsigned: ") == true, "\(der)")
        }
    }
}
