// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import NIOHTTP1
import PinListMetadata
import Testing

@testable import PinListServer
@testable import PinListStore
@testable import PinReportAnalysis

@Suite("Exporting reports", .runsPostgreSQL)
struct ReportExportTests {
    private static func add(_ count: Int, at time: Timestamp = TurnedClock.start, to store: any ServiceStore)
        async throws
    {
        let report = try ReportText.report(ReportText.body())
        let accepted = AcceptedReport(
            report: report, group: ReportGroup(report), receivedAt: time, networks: nil, isSample: false,
            isListed: true, body: [1])
        let reports = Array(repeating: accepted, count: count)
        try await store.write { try $0.add(reports, countedBy: "a") }
    }

    @Test("2,500 reports are there once each, in their order, for any length of page", arguments: TestedStore.all)
    func of2500ReportsAreThereOnceEachInTheirOrderForAnyLengthOfPage(on tested: TestedStore) async throws {
        try await tested.withDatabase { open in
            let store = try open()
            try await Self.add(2_500, to: store)
            try await RunningService.with(store) { service in
                let lines = try await service.ask(.GET, "/v1/reports?format=jsonl")
                #expect(lines.headers["content-type"] == ["application/jsonl"])
                let numbers = try lines.body.split(separator: UInt8(ascii: "\n")).map { line -> Int64? in
                    guard case .object(let members) = try JSONValue(strict: Array(line)),
                        case .integer(let number)? = members.first?.value
                    else { return nil }
                    #expect(members.map(\.name) == ReportExport.columns)
                    return number
                }
                #expect(numbers == (1...2_500).map { Int64($0) })
                let table = try await service.ask(.GET, "/v1/reports?format=csv")
                #expect(table.text.hasPrefix(ReportExport.columns.joined(separator: ",") + "\r\n"))
                #expect(table.body.split(separator: UInt8(ascii: "\n")).count == 2_501)
                #expect(table.headers["content-disposition"] == ["attachment; filename=\"reports.csv\""])
            }
        }
    }

    @Test("of a time, from its begin on and without its end")
    func ofATimeFromItsBeginOnAndWithoutItsEnd() async throws {
        try await TestedStore.sqlite.withDatabase { open in
            let store = try open()
            for seconds in 0..<4 { try await Self.add(1, at: Timestamp(secondsSince1970: Int64(seconds)), to: store) }
            try await RunningService.with(store) { service in
                let some = try await service.ask(
                    .GET, "/v1/reports?since=1970-01-01T00:00:01Z&until=1970-01-01T00%3A00%3A03Z")
                #expect(
                    some.text.split(separator: "\n").map { $0.prefix(51) } == [
                        #"{"number":2,"received-at":"1970-01-01T00:00:01Z","d"#.prefix(51),
                        #"{"number":3,"received-at":"1970-01-01T00:00:02Z","d"#.prefix(51),
                    ])
                for query in ["since=yesterday", "until=", "format=xml"] {
                    #expect(try await service.ask(.GET, "/v1/reports?\(query)").status == 400, "\(query)")
                }
            }
        }
    }

    @Test("a stranger's text is a text in a table, and no formula, line or quotation mark of its own")
    func strangersTextIsATextInATableAndNoFormulaLineOrQuotationMarkOfItsOwn() {
        func csv(_ text: String) -> String {
            String(decoding: ReportExport.csv.line([.integer(1), .text(text), .null]), as: UTF8.self)
        }
        #expect(csv("plain") == "1,\"plain\",\r\n")
        for begin in ["=", "+", "-", "@", "\t", "\r"] {
            #expect(csv(begin + "cmd|' /C calc'!A0") == "1,\"'\(begin)cmd|' /C calc'!A0\",\r\n")
        }
        #expect(csv("a\"b,c\nd") == "1,\"a\"\"b,c\nd\",\r\n")
        let line = String(decoding: ReportExport.jsonl.line([.integer(1), .text("a\"b\n\u{202E}")]), as: UTF8.self)
        #expect(line.hasPrefix(#"{"number":1,"received-at":"a\"b\u000a"#))
        #expect(line.split(separator: "\n").count == 1)
    }

    @Test("right-to-left marks do not come as far as a store")
    func rightToLeftMarksDoNotComeAsFarAsAStore() throws {
        let report = try ReportText.report(
            ReportText.body([
                ("app-bundle-id", .string("com.\u{202E}evil")), ("app-platform", .string("\u{2067}IOS\u{0}")),
            ]))
        #expect(report.app.bundleID == "com.?evil")
        #expect(report.app.platform == "?IOS?")
    }
}
