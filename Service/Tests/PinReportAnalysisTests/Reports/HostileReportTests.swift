// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import Testing

@testable import PinReportAnalysis

@Suite("Bodies that no honest client sends")
struct HostileReportTests {
    @Test(
        "what is no JSON, or none that one reader and the next read alike",
        arguments: [
            "", " ", "{", "{\"hostname\":\"a\"", "{\"hostname\":\"a\"} x", "{\"hostname\":\"\\ud800\"}",
            "{\"hostname\":\"\\udc00\\ud800\"}", "{\"hostname\":\"a\",\"hostname\":\"b\"}", "{\"port\":01}",
            "{\"port\":1.}", "{\"port\":1e}", "{\"port\":-}", "{\"port\":.5}", "{\"port\":+1}", "{'hostname':'a'}",
            "{\"hostname\":\"a\nb\"}", "\u{feff}{\"hostname\":\"a\"}", "{\"hostname\":NaN}",
        ])
    func whatIsNoJSONOrNoneThatOneReaderAndTheNextReadAlike(text: String) {
        #expect(ReportText.defect(text)?.code == .notJSON)
        #expect(ReportText.defect(text)?.code.status == 400)
    }

    @Test(
        "100,000 levels, a million digits, 100,000 members, 100,000 members of one name: refused, and quickly by bounds"
    )
    func of100000LevelsAMillionDigits100000Members100000MembersOfOneNameRefused() {
        let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        #expect(ReportText.defect(deep)?.code == .notJSON)
        let digits = "{\"hostname\":\"a\",\"port\":" + String(repeating: "9", count: 400_000) + "}"
        #expect(ReportText.defect(digits) == nil)
        let members = (0..<40_000).map { "\"\($0)\":0" }.joined(separator: ",")
        #expect(ReportText.defect("{\(members)}")?.code == .notJSON)
        let many = (0..<100_000).map { "\"member \($0)\":0" }.joined(separator: ",")
        #expect(ReportText.defect("{\(many)}")?.code == .tooLarge)
        let same = String(repeating: "\"hostname\":\"a\",", count: 20_000)
        #expect(ReportText.defect("{\(same)\"x\":0}")?.code == .notJSON)
    }

    @Test("bytes that are no UTF-8, wherever they stand")
    func bytesThatAreNoUTF8WhereverTheyStand() {
        for bytes: [UInt8] in [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]] {
            let body = Array("{\"hostname\":\"".utf8) + bytes + Array("\"}".utf8)
            #expect(ReportText.defect(body)?.code == .notJSON)
        }
    }

    @Test(
        "JSON that is none of the forms",
        arguments: [
            ("{}", ReportError.Code.notReport), ("7", .wrongType), ("null", .wrongType), ("\"hostname\"", .wrongType),
            ("{\"tumbler\":{}}", .notReport), ("{\"hostname\":null}", .notReport),
            ("{\"hostname\":[]}", .wrongType), ("{\"hostname\":\"a\",\"port\":{}}", .wrongType),
            ("{\"hostname\":\"a\",\"port\":\"x\"}", .wrongType),
            ("{\"hostname\":\"a\",\"port\":65536}", .outOfRange), ("{\"hostname\":\"a\",\"port\":-1}", .outOfRange),
            ("{\"hostname\":\"a\",\"validation-result\":6}", .outOfRange),
            ("{\"hostname\":\"a\",\"enforce-pinning\":2}", .wrongType),
            ("{\"hostname\":\"a\",\"known-pins\":\"x\"}", .wrongType),
            ("{\"hostname\":\"a\",\"known-pins\":[1]}", .wrongType), ("{\"hostname\":\"a\",\"tumbler\":1}", .wrongType),
            ("{\"hostname\":\"a\",\"tumbler\":{\"list-version\":0}}", .outOfRange),
            ("{\"tumbler\":{\"reason\":\"equivocation\",\"envelope\":\"%%\"}}", .envelopeInvalid),
            ("{\"tumbler\":{\"reason\":\"equivocation\",\"envelope\":7}}", .wrongType),
        ])
    func jsonThatIsNoneOfTheForms(text: String, code: ReportError.Code) {
        #expect(ReportText.defect(text)?.code == code)
    }

    @Test("what a sender writes into a report counts toward the memory of those that wait")
    func whatASenderWritesIntoAReportCountsTowardTheMemoryOfThoseThatWait() throws {
        func weight(_ changes: [(String, JSONValue)]) throws -> Int {
            let report = try ReportText.report(ReportText.body(changes))
            return AcceptedReport(
                report: report, group: ReportGroup(report), receivedAt: ReportText.now, networks: nil,
                isSample: false, isListed: false, body: []
            ).weight
        }
        let long = JSONValue.string(String(repeating: "é", count: ReportBodyLimits.textLength))
        let pin = JSONValue.string("sha256/\(String(repeating: "A", count: 43))=")
        let signals = JSONValue.array(Array(repeating: long, count: ReportBodyLimits.signals))
        let plain = try weight([])
        for (name, value, bytes) in [
            ("tumbler", .object([.init("reason", .string("no-matching-pin")), .init("signals", signals)]), 31 * 512),
            ("known-pins", .array(Array(repeating: pin, count: ReportBodyLimits.pins)), 64 * 32),
            ("app-version", long, 500), ("app-platform", long, 500), ("noted-hostname", long, 500),
        ] as [(String, JSONValue, Int)] {
            #expect(try weight([(name, value)]) >= plain + bytes, "\(name)")
        }
    }

    @Test("every text, count and size has its end")
    func everyTextCountAndSizeHasItsEnd() {
        let long = String(repeating: "a", count: 4_097)
        #expect(ReportText.defect("{\"hostname\":\"\(long)\"}")?.code == .textTooLong)
        #expect(ReportText.defect("{\"hostname\":\"a\",\"app-version\":\"\(long)\"}")?.code == .textTooLong)
        func list(_ count: Int) -> JSONValue { .array(Array(repeating: .string("x"), count: count)) }
        #expect(ReportText.defect(ReportText.body([("known-pins", list(64))])) == nil)
        #expect(ReportText.defect(ReportText.body([("known-pins", list(65))]))?.code == .outOfRange)
        let signals = JSONValue.object([.init("reason", .string("x")), .init("signals", list(33))])
        #expect(ReportText.defect(ReportText.body([("tumbler", signals)]))?.code == .outOfRange)

        let padding = String(repeating: "x", count: 524_288)
        #expect(ReportText.defect("{\"hostname\":\"a\",\"x\":\"\(padding)\"}")?.code == .tooLarge)
        #expect(ReportText.defect("{\"hostname\":\"a\",\"x\":\"\(padding)\"}")?.code.status == 413)
        // To say the word is not to have one.
        #expect(ReportText.defect("{\"hostname\":\"a\",\"envelope\":\"\(padding)\"}")?.code == .tooLarge)
        let envelope = Base64.encode([UInt8](repeating: 0, count: 4_194_306))
        let over = "{\"tumbler\":{\"reason\":\"rollback\",\"envelope\":\"\(envelope)\"}}"
        #expect(ReportText.defect(over)?.code == .envelopeInvalid)
        let huge = [UInt8](repeating: UInt8(ascii: " "), count: 6_291_457)
        #expect(ReportText.defect(Array("\"envelope\"".utf8) + huge)?.code == .tooLarge)
    }

    @Test("a server that presents a huge chain does not keep itself from being reported")
    func serverThatPresentsAHugeChainDoesNotKeepItselfFromBeingReported() throws {
        let certificate = SketchedChain.chain()[0]
        let report = try ReportText.report(chain: Array(repeating: certificate, count: 100))
        #expect(report.chain.count == 16)
        let large = [UInt8](repeating: 1, count: 60_000)
        #expect(try ReportText.report(chain: [certificate, large, large, large]).chain.count == 3)
    }

    @Test("a certificate that cannot be decoded ends the chain; none takes the place of the leaf")
    func certificateThatCannotBeDecodedEndsTheChainNoneTakesThePlaceOfTheLeaf() throws {
        let pem = SketchedChain.chain().map { PEMBlock(label: "CERTIFICATE", bytes: $0).text }
        func report(_ texts: [String]) throws -> CollectedReport {
            try ReportText.report(
                ReportText.body([("validated-certificate-chain", .array(texts.map { .string($0) }))]))
        }
        #expect(try report(["no PEM", pem[0]]).chain == [])
        #expect(try report(["no PEM", pem[0]]).leaf == nil)
        #expect(try report([pem[0], "-----BEGIN CERTIFICATE-----\nAA", pem[1]]).chain.count == 1)
        #expect(try report([pem[0].replacingOccurrences(of: "CERTIFICATE", with: "PRIVATE KEY")]).chain == [])
        let unreadable = try ReportText.report(chain: [[0x30, 0x03, 1, 2, 3]])
        #expect(unreadable.chain.count == 1)
        #expect(unreadable.leaf == nil)
        #expect(unreadable.readableChain == [nil])
    }

    @Test("scripts, marks that turn the direction of text, and terminal escapes are shown as text or as question marks")
    func scriptsMarksThatTurnTheDirectionOfText() throws {
        let text = "<script>\u{202e}\u{200b}\u{1b}[31m\u{0}\u{2066}\u{e000}é"
        let report = try ReportText.report(
            ReportText.body([
                ("app-version", .string(text)), ("app-bundle-id", .string(text)), ("hostname", .string(text)),
                ("tumbler", .object([.init("reason", .string(text)), .init("signals", .array([.string(text)]))])),
            ]))
        for shown in [report.app.version, report.app.bundleID, report.hostname, report.signals.first] as [String?] {
            #expect(shown == "<script>???[31m???é")
        }
        #expect(report.reason == "unnamed")
        let long = try ReportText.report(
            ReportText.body([("app-version", .string(String(repeating: "é", count: 2_000)))]))
        #expect(long.app.version?.unicodeScalars.count == 256)
        #expect(long.app.version?.hasSuffix("…") == true)
        #expect(try ReportText.report(report.document) == report)
    }

    @Test("one host in many spellings is one host; a member under a name that only looks alike is another member")
    func oneHostInManySpellingsIsOneHost() throws {
        for host in ["API.example.com", "api.example.com.", "api.EXAMPLE.com"] {
            #expect(try ReportText.report(ReportText.body([("hostname", .string(host))])).hostname == "api.example.com")
        }
        // U+212A, the Kelvin sign, which lower-casing would make a k; and a name with a combining mark.
        let text = "{\"hostname\":\"a\",\"no\u{212a}\":1,\"hostname\u{301}\":\"b\",\"HOSTNAME\":\"c\"}"
        #expect(try ReportText.report(text).hostname == "a")
    }

    @Test("impossible times, and numbers beyond every bound, are as if they were absent")
    func impossibleTimesAndNumbersBeyondEveryBoundAreAsIfTheyWereAbsent() throws {
        for time in [
            "", "yesterday", "2026-13-01T00:00:00Z", "2026-11-21T00:00:00", "0000-01-01T00:00:00+14:00",
            "2026-11-21T00:00:00.Z", "2026-11-21T00:00:00+24:00", "9999-12-31T23:59:59-23:59", "٢٠٢٦-11-21T00:00:00Z",
        ] {
            #expect(
                try ReportText.report(ReportText.body([("date-time", .string(time))])).claimedTime == nil, "\(time)")
        }
        let report = try ReportText.report("{\"hostname\":\"a\",\"port\":1e999999,\"validation-result\":1.9999999999}")
        #expect(report.port == nil)
        #expect(report.kind == .pin)
    }

    @Test(
        "of JSONTestSuite, nothing that must not parse does",
        .enabled(
            if: SharedData.holds(SharedData.jsonTestSuite),
            "there is no ../shared/data/json-test-suite beside the checkout"))
    func ofJSONTestSuiteNothingThatMustNotParseDoes() throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: SharedData.jsonTestSuite, includingPropertiesForKeys: nil)
        var counts = ["n": 0, "y": 0]
        for file in files {
            let kind = String(file.lastPathComponent.prefix(1))
            guard counts[kind] != nil else { continue }
            counts[kind, default: 0] += 1
            let defect = ReportText.defect([UInt8](try Data(contentsOf: file)))
            if kind == "n" {
                #expect(defect?.code == .notJSON, "\(file.lastPathComponent)")
            } else if !file.lastPathComponent.contains("duplicated_key") {
                #expect(defect?.code != .notJSON, "\(file.lastPathComponent)")
            }
        }
        #expect(counts == ["n": 188, "y": 95])
    }
}
