// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import Testing

/// A publisher and a client that share no line with ours: Python's JSON and Base64, openssl's keys and signatures.
@Suite(
    "Envelopes of a second implementation",
    .enabled(if: Python.installed != nil, "there is no python3 on PATH to compare with"),
    .enabled(if: OpenSSL.installed != nil, "there is no openssl on PATH to compare with"))
struct ForeignPublisherTests {
    private static let common = """
        import base64, hashlib, json, subprocess, sys
        def openssl(*arguments):
            return subprocess.run(["openssl", *arguments], check=True, capture_output=True).stdout
        def write(name, content):
            with open(name, "wb") as file: file.write(content)
        def pae(kind, payload):
            return b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(payload), payload)
        """

    /// Makes a root and a list, each signed by a P-256 and an Ed25519 key; prints both as base64.
    private static let publisher = """

        def key(name, *options):
            openssl("genpkey", *options, "-out", name)
            der = openssl("pkey", "-in", name, "-pubout", "-outform", "DER")
            return name, der, hashlib.sha256(der).hexdigest()
        def sign(name, message):
            write("message", message)
            if name == "ed25519":
                openssl("pkeyutl", "-sign", "-inkey", name, "-rawin", "-in", "message", "-out", "signature")
                return open("signature", "rb").read()
            der = openssl("dgst", "-sha256", "-sign", name, "message")
            numbers = der[4:4 + der[3]], der[6 + der[3]:]
            return b"".join(int.from_bytes(number, "big").to_bytes(32, "big") for number in numbers)
        def envelope(kind, payload):
            kind = f"application/vnd.tumbler.{kind}+json"
            payload = json.dumps(payload, indent=1).encode()
            signatures = [
                {"sig": base64.b64encode(sign(name, pae(kind, payload))).decode(), "keyid": keyid}
                for name, _, keyid in keys
            ]
            return json.dumps(
                {"signatures": signatures, "payload": base64.b64encode(payload).decode(), "payloadType": kind})
        keys = [
            key("ecdsa-p256-sha256", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"),
            key("ed25519", "-algorithm", "ED25519"),
        ]
        header = {"specVersion": "1.0", "name": "com.example.app", "version": 1,
                  "issuedAt": "2026-11-21T00:00:00Z", "expiresAt": "2029-11-20T00:00:00Z"}
        role = {"keyids": [keyid for _, _, keyid in keys], "threshold": 2}
        root = {"type": "root", **header, "roles": {"root": role, "pins": role}, "keys": {
            keyid: {"algorithm": name, "publicKey": base64.b64encode(der).decode()} for name, der, keyid in keys}}
        pin = "sha256/" + base64.b64encode(hashlib.sha256(b"key").digest()).decode()
        pins = {"type": "pins", **header, "domains": [{"domain": "API.example.com.", "pins": [
            {"pin": pin, "note": "\\u00e4\\U0001F512"}]}]}
        for content in (envelope("root", root), envelope("pins", pins)):
            print(base64.b64encode(content.encode()).decode())
        """

    /// Reads a root and an envelope, both as base64, and prints how many keys of each role signed the envelope.
    private static let client = """

        root, envelope = (json.loads(base64.b64decode(line)) for line in sys.stdin.read().split())
        root = json.loads(base64.b64decode(root["payload"]))
        def integer(number):
            content = number.lstrip(b"\\0")
            content = (b"\\0" if content[0] >= 128 else b"") + content
            return bytes([2, len(content)]) + content
        def holds(key, signature):
            write("key", b"-----BEGIN PUBLIC KEY-----\\n" + key["publicKey"].encode() + b"\\n-----END PUBLIC KEY-----\\n")
            write("message", pae(envelope["payloadType"], base64.b64decode(envelope["payload"])))
            arguments = ["pkeyutl", "-verify", "-pubin", "-inkey", "key", "-rawin", "-in", "message", "-sigfile", "signature"]
            if key["algorithm"] == "ecdsa-p256-sha256":
                content = integer(signature[:32]) + integer(signature[32:])
                signature = bytes([48, len(content)]) + content
                arguments = ["dgst", "-sha256", "-verify", "key", "-signature", "signature", "message"]
            write("signature", signature)
            return subprocess.run(["openssl", *arguments], capture_output=True).returncode == 0
        for role in ("root", "pins"):
            signers = {
                keyid for keyid in root["roles"][role]["keyids"] for signature in envelope["signatures"]
                if signature["keyid"] == keyid and holds(root["keys"][keyid], base64.b64decode(signature["sig"]))
            }
            assert all(hashlib.sha256(base64.b64decode(key["publicKey"])).hexdigest() == keyid
                       for keyid, key in root["keys"].items())
            print(len(signers))
        """

    @Test("what it publishes is trusted here")
    func whatItPublishesIsTrustedHere() async throws {
        let output = try await Python.run(Self.common + Self.publisher, input: [])
        let envelopes = try output.split(separator: "\n").map { try #require(Base64.decode($0.utf8)) }
        try #require(envelopes.count == 2)
        let client = try TrustState(bundledRoot: envelopes[0], bundledList: envelopes[1])
        let list = try #require(client.inForce).held.list
        #expect(list.domains.first?.entry.domain.description == "api.example.com")
        let pin = Pin(kind: .publicKey, hashing: Array("key".utf8))
        #expect(list.domains.first?.entry.pins == [KnownPin(pin, note: "\u{e4}\u{1F512}")])
        #expect(client.currentMark?.keyIDs.count == 2)
    }

    @Test("what we publish verifies there, and what is changed does not")
    func whatWePublishVerifiesThereAndWhatIsChangedDoesNot() async throws {
        var repository = try Story.repository(rootKeys: (2, 2), pinsKeys: (3, 2))
        try repository.publishRoot()
        let list = try repository.publishList { $0.reportTo = ["https://reports.example.com/\u{7e}"] }
        var changed = try Envelope(list, of: .pins, limits: MetadataLimits())
        changed = Envelope(
            payloadType: changed.payloadType, payload: changed.payload + [0x20], signatures: changed.signatures)
        let cases = [(repository.roots[1], "2\n0"), (list, "0\n3"), (changed.bytes, "0\n0")]
        for (envelope, signers) in cases {
            let lines = Base64.encode(repository.roots[1]) + "\n" + Base64.encode(envelope)
            #expect(try await Python.run(Self.common + Self.client, input: Array(lines.utf8)) == signers)
        }
    }
}
