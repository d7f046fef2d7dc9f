// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListRepository
import Testing

@Suite("Revoked certificates into a source, by whole lines")
struct RevokedEditTests {
    private static let issuer = Pin(kind: .publicKey, hashing: [1])
    private static let other = Pin(kind: .publicKey, hashing: [2])

    private static func serials(_ texts: [String]) throws -> [SerialNumber] { try texts.map { try SerialNumber($0) } }

    /// Sources in which `revoked` is written in all the ways that people write it.
    private static let layouts: [String: String] = {
        let head = "# ours\nname: com.example.app\ndomains:\n  - {domain: api.example.com, mode: off}   # one\n"
        let one = "{issuer: \"\(issuer)\", serials: [\"0a\", 'ff01'], mode: report} # old"
        return [
            "missing": head, "missing, no end": String(head.dropLast()), "empty": "\(head)revoked:   # none\n",
            "flow": "\(head)revoked: []  # none\n", "in front": "revoked: []\n\(head)",
            "block": "\(head)revoked:\n  # by the CA\n  - \(one)\n\n# end\ndenied: []\n",
            "block without indentation": "\(head)revoked:\n- \(one)\ndenied: []\n",
            "block, deep":
                "\(head)revoked:\n    - issuer: \(issuer)\n      serials:\n        - \"0a\"\n        - \"ff01\"\n",
        ]
    }()

    private static func edit(_ text: String) throws(RepositoryError) -> RevokedEdit {
        try RevokedEdit(Array(text.utf8), file: "tumbler.yaml", files: FilesInMemory())
    }

    @Test("come as lines, and every other byte stays", arguments: layouts.keys.sorted())
    func comeAsLinesAndEveryOtherByteStays(layout: String) throws {
        let text = try #require(Self.layouts[layout])
        let edit = try Self.edit(text)
        let entries = [
            RevokedCertificates(
                issuer: Self.issuer, serials: try Self.serials(["0a", "0b"]), note: "key \"C\": since # x"),
            RevokedCertificates(issuer: Self.other, serials: try Self.serials(["0a"])),
        ]
        let missing = edit.missing(entries)
        let isKnown = edit.source.revoked.contains { $0.value.serials.contains(entries[0].serials[0]) }
        #expect(missing.map(\.serials.count) == [isKnown ? 1 : 2, 1])
        let bytes = try edit.adding(missing)
        let after = try Self.edit(String(decoding: bytes, as: UTF8.self))
        #expect(after.missing(entries).isEmpty)
        #expect(after.source.revoked.count == edit.source.revoked.count + 2)
        // What was there stands there in the same order.
        let kept = text.split(separator: "\n").filter { !$0.hasPrefix("revoked: []") }
        var lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")[...]
        for line in kept {
            let place = lines.firstIndex(of: line)
            #expect(place != nil, "\(layout): \(line)")
            lines = lines[(place ?? lines.startIndex)...].dropFirst()
        }
    }

    @Test("the same serial number of one issuer comes once, of another issuer as well")
    func sameSerialNumberOfOneIssuerComesOnce() throws {
        let edit = try Self.edit(try #require(Self.layouts["missing"]))
        let twice = RevokedCertificates(issuer: Self.issuer, serials: try Self.serials(["0a"]), note: "a")
        let missing = edit.missing([
            twice, RevokedCertificates(issuer: Self.issuer, serials: twice.serials, note: "b"),
            RevokedCertificates(issuer: Self.other, serials: twice.serials),
        ])
        #expect(missing.map(\.issuer) == [Self.issuer, Self.other])
    }

    @Test("what cannot be edited by whole lines is refused, and so are more than a list may have")
    func whatCannotBeEditedByWholeLinesIsRefused() throws {
        let entry = RevokedCertificates(issuer: Self.issuer, serials: try Self.serials(["0a"]))
        for text in [
            "{name: com.example.app, domains: [{domain: api.example.com, mode: off}]}\n",
            "name: com.example.app\ndomains: [{domain: api.example.com, mode: off}]\nrevoked: ~\n",
        ] {
            #expect(throws: RepositoryError.self) { try Self.edit(text).adding([entry]) }
        }
        let many = try (0..<257).map { number in
            RevokedCertificates(
                issuer: Pin(kind: .publicKey, hashing: [UInt8(number & 255), 9]),
                serials: try Self.serials([number < 256 ? "0a" : "0b"]))
        }
        let edit = try Self.edit(try #require(Self.layouts["missing"]))
        #expect(throws: RepositoryError.self) { try edit.adding(many) }
    }
}
