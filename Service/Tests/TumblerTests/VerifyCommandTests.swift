// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Verifying on the command line")
struct VerifyCommandTests {
    /// A list, how it differs, when it is offered, and what a client says.
    struct Offer: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let list: String
        let at: String
        let code: String?
        var of: String?

        init(
            _ description: String, _ list: String, at: String = MetadataFixture.now, _ code: String?, of: String? = nil
        ) {
            self.testDescription = description
            self.list = list
            self.at = at
            self.code = code
            self.of = of
        }
    }

    private struct Printed: Decodable {
        struct Refusal: Decodable {
            let what: String
            let code: String
            let of: String?
        }

        let version: Int?
        let signers: [[String: String]]
        let refused: Refusal?
    }

    private static let offers = [
        Offer("fresh", MetadataFixture.list(), nil),
        Offer("a second before its end", MetadataFixture.list(), at: "2027-01-19T23:59:59Z", nil),
        Offer("at its end", MetadataFixture.list(), at: "2027-01-20T00:00:00Z", "expired", of: "pins"),
        Offer(
            "after the root's end", MetadataFixture.list(expires: "2031-01-01T00:00:00Z"), at: "2029-11-20T00:00:00Z",
            "expired", of: "root"),
        Offer("a day ahead", MetadataFixture.list(), at: "2026-11-20T00:00:00Z", nil),
        Offer("over a day ahead", MetadataFixture.list(), at: "2026-11-19T23:59:59Z", "issued-in-future"),
    ]

    @Test("says what a client would say", arguments: Self.offers)
    func saysWhatAClientWouldSay(offer: Offer) async throws {
        try await withTemporaryFolder { folder in
            try await CommandRun.makeRoot(in: folder)
            try folder.write(offer.list, as: "list")
            let sign = ["sign", "list", "--root", "root.json", "--key", "pins", "--yes", "-o", "pins.json"]
            try await CommandRun.tumbler(sign, in: folder).expectSuccess()
            let run = try await CommandRun.tumbler(
                ["verify", "pins.json", "--root", "root.json", "--at", offer.at, "--json"], in: folder)
            #expect(run.exitCode == (offer.code == nil ? 0 : 1), "\(run)")
            #expect(run.errors.isEmpty)
            let printed: Printed = try run.decoded()
            #expect(printed.refused?.code == offer.code)
            #expect(printed.refused?.of == offer.of)
            #expect(printed.version == (offer.code == nil ? 7 : nil))
            #expect(printed.signers.count == (offer.code == nil ? 1 : 0))
        }
    }

    @Test("refuses what is not signed, signed for something else, changed on the way, or no metadata at all")
    func refusesWhatIsNotSignedSignedForSomethingElseChangedOnTheWayOrNoMetadataAtAll() async throws {
        try await withTemporaryFolder { folder in
            try await CommandRun.makeRoot(in: folder)
            let sign = ["sign", "list", "--root", "root.json", "--key", "pins", "--yes", "-o", "pins.json"]
            try await CommandRun.tumbler(sign, in: folder).expectSuccess()
            let text = try folder.text(of: "pins.json")
            let payload = try #require(text.split(separator: "\"").first { $0.count > 200 })
            let other = Data(MetadataFixture.list(version: 8).utf8).base64EncodedString()
            let attacks = [
                ("another payload", text.replacing(payload, with: other), "unsigned"),
                ("a root's type", text.replacing("tumbler.pins", with: "tumbler.root"), "wrong-type"),
                ("another type", text.replacing("tumbler.pins", with: "tumbler.pens"), "wrong-type"),
                ("a root for a list", try folder.text(of: "root.json"), nil),
                ("no signature", text.replacing(/"signatures":\[.*\]/, with: #""signatures":[]"#), "unsigned"),
                ("a payload alone", MetadataFixture.list(), "malformed"),
                ("an error page", "<html>", "malformed"),
                ("endless", String(repeating: " ", count: 4_194_305), "too-large"),
            ]
            for (name, text, code) in attacks {
                try folder.write(text, as: "attack.json")
                let run = try await CommandRun.tumbler(
                    ["verify", "attack.json", "--root", "root.json", "--at", MetadataFixture.now, "--json"], in: folder)
                #expect(run.exitCode == (code == nil ? 0 : 1), "\(name): \(run)")
                let printed: Printed = try run.decoded()
                #expect(printed.refused?.code == code, "\(name): \(run)")
            }
            try folder.write("<html>", as: "page.json")
            try await CommandRun.tumbler(["verify", "pins.json", "--root", "page.json"], in: folder).expectError(1)
            try await CommandRun.tumbler(["verify", "pins.json", "--root", "missing"], in: folder).expectError(2)
            try await CommandRun.tumbler(["verify", "missing", "--root", "root.json"], in: folder).expectError(2)
            try await CommandRun.tumbler(["verify", "pins.json"], in: folder).expectError(64)
        }
    }
}
