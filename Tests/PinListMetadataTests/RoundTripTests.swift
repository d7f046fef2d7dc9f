// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import Testing

@Suite("What is written reads back")
struct RoundTripTests {
    /// Any list that is well-formed.
    private func list(using random: inout SeededGenerator) throws -> PinList {
        func chance(_ percent: Int, _ random: inout SeededGenerator) -> Bool {
            Int.random(in: 0..<100, using: &random) < percent
        }
        func pin(_ random: inout SeededGenerator) -> Pin {
            Pin(kind: chance(80, &random) ? .publicKey : .certificate, hashing: random.bytes(8))
        }
        func note(_ random: inout SeededGenerator) -> String? {
            [nil, "", "current", "\"\\\n\u{0}\u{7f}", "日本語 \u{1F512}", "</script>\u{2028}"].randomElement(
                using: &random) ?? nil
        }
        var domains: [PinList.Domain] = []
        for number in 0..<Int.random(in: 0...8, using: &random) {
            let isAddress = chance(20, &random)
            let requireIssuer = chance(20, &random)
            let count = Int.random(in: requireIssuer ? 2...4 : 1...4, using: &random)
            let pins = (0..<count).map { index in
                let position: KnownPin.Position =
                    requireIssuer
                    ? (index == 0 ? .leaf : .issuer)
                    : KnownPin.Position.allCases.randomElement(using: &random) ?? .any
                return KnownPin(pin(&random), position: position, note: note(&random))
            }
            let entry = PinnedDomain(
                try HostName(isAddress ? "192.0.2.\(number)" : "h\(number).example.com"),
                includeSubdomains: !isAddress && chance(50, &random),
                mode: PinnedDomain.Mode.allCases.randomElement(using: &random) ?? .enforce, pins: pins,
                requireIssuer: requireIssuer, expiresAt: chance(20, &random) ? Story.after(days: 99) : nil,
                reportTo: chance(30, &random) ? ["https://reports.example.com/\(number)"] : [])
            domains.append(
                PinList.Domain(
                    entry, rollout: chance(50, &random) ? 100 : Int(random.next() % 101),
                    reportPerMillion: chance(70, &random) ? nil : Int64.random(in: 1...1_000_000, using: &random)))
        }
        let host = try HostName("h0.example.com")
        return PinList(
            name: "com.example-\(random.next() % 100)_x", version: Int64(random.next() >> 12) + 1,
            issuedAt: Story.start,
            expiresAt: Story.after(days: 1 + Int64(random.next() % 9_000)),
            refreshAfter: Int64(random.next() % 100_000),
            reportTo: chance(50, &random) ? ["http://127.0.0.1:8480/v1/reports"] : [],
            reportPerMillion: chance(70, &random) ? 1_000_000 : Int64.random(in: 1...1_000_000, using: &random),
            domains: domains,
            denied: (0..<Int.random(in: 0...3, using: &random)).map { _ in
                DeniedKey(pin(&random), isEnforced: chance(50, &random), note: note(&random))
            },
            suspended: (0..<Int.random(in: 0...2, using: &random)).map { _ in
                Suspension(
                    chance(50, &random) ? .everything : .entry(host), until: Story.after(hours: 5),
                    reason: note(&random) ?? "")
            },
            unlisted: UnlistedHosts.allCases.randomElement(using: &random) ?? .allow)
    }

    @Test("any list that is written reads back", arguments: [1, 2, 3, 4] as [UInt64])
    func anyListThatIsWrittenReadsBack(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<150 {
            let list = try self.list(using: &random)
            let read = try PinList(payload: list.payload)
            #expect(read == list)
            #expect(read.payload == list.payload)
        }
    }

    @Test(
        "and Python reads the same in it",
        .enabled(if: Python.installed != nil, "there is no python3 on PATH to compare with"))
    func andPythonReadsTheSameInIt() async throws {
        var random = SeededGenerator(seed: 77)
        let lists = try (0..<60).map { _ in try self.list(using: &random) }
        // Foundation is a third: what it makes of our bytes, Python must make of them as well.
        let lines = try lists.map { list in
            let object = try JSONSerialization.jsonObject(with: Data(list.payload))
            let foundations = try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys])
            return Data(list.payload).base64EncodedString() + " " + foundations.base64EncodedString()
        }
        let script = """
            import base64, json, sys
            def once(pairs):
                assert len({name for name, _ in pairs}) == len(pairs)
                return dict(pairs)
            for line in sys.stdin.read().split("\\n"):
                ours, theirs = (base64.b64decode(part) for part in line.split(" "))
                value = json.loads(ours, object_pairs_hook=once)
                assert value == json.loads(theirs)
                print(value["name"], value["version"], value["expiresAt"], len(value["domains"]), value["unlisted"])
            """
        let theirs = try await Python.run(script, input: Array(lines.joined(separator: "\n").utf8))
        let ours = lists.map { "\($0.name) \($0.version) \($0.expiresAt) \($0.domains.count) \($0.unlisted)" }
        #expect(theirs.split(separator: "\n").map(String.init) == ours)
    }

    @Test("an envelope: its bytes are read as the same envelope")
    func envelopeItsBytesAreReadAsTheSameEnvelope() throws {
        var random = SeededGenerator(seed: 5)
        for kind in [MetadataRole.root, .pins] {
            for count in [0, 1, 2, 3, 32] {
                let envelope = Envelope(
                    payloadType: Envelope.payloadType(of: kind), payload: random.bytes(count * 7),
                    signatures: (0..<count).map { number in
                        Envelope.Signature(keyID: number == 1 ? "" : "\"\\\(number)", bytes: random.bytes(number))
                    })
                #expect(try Envelope(envelope.bytes, of: kind, limits: MetadataLimits()) == envelope)
            }
        }
    }

    @Test("PAE is that of the DSSE specification")
    func paeIsThatOfTheDSSESpecification() {
        // The example of protocol.md: "DSSEv1 29 http://example.com/HelloWorld 11 hello world".
        let envelope = Envelope(payloadType: "http://example.com/HelloWorld", payload: Array("hello world".utf8))
        #expect(envelope.signedBytes == Array("DSSEv1 29 http://example.com/HelloWorld 11 hello world".utf8))
        // Lengths are those of bytes.
        let wide = Envelope(payloadType: "\u{e9}", payload: Array("\u{1F512}".utf8))
        #expect(wide.signedBytes == Array("DSSEv1 2 \u{e9} 4 \u{1F512}".utf8))
    }

    @Test("a digest is lower-case hex of SHA-256")
    func digestIsLowerCaseHexOfSHA256() {
        #expect(
            Envelope.digest(of: []) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }
}
