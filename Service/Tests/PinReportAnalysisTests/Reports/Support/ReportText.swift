// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import Testing

@testable import PinReportAnalysis

/// Bodies of reports, and what is read of them.
enum ReportText {
    /// 2026-11-21T12:00:00Z.
    static let now = Timestamp(secondsSince1970: 1_795_262_400)

    /// The body of a failed pin, with section 5's members; what is given replaces a member of the same name.
    static func body(_ changes: [(String, JSONValue)] = [], chain: [[UInt8]] = SketchedChain.chain()) -> [UInt8] {
        let texts = chain.map { JSONValue.string(PEMBlock(label: PEMBlock.certificateLabel, bytes: $0).text) }
        let members: [(String, JSONValue)] = [
            ("date-time", .string("2026-11-21T11:59:00Z")), ("hostname", .string("api.example.com")),
            ("port", .integer(443)), ("noted-hostname", .string("example.com")),
            ("include-subdomains", .bool(true)), ("enforce-pinning", .bool(true)),
            ("validation-result", .integer(1)), ("validated-certificate-chain", .array(texts)),
            ("app-bundle-id", .string("com.example.app")), ("app-version", .string("4.2")),
            (
                "tumbler",
                .object([
                    .init("list-name", .string("com.example.app")), .init("list-version", .integer(7)),
                    .init("reason", .string("no-matching-pin")),
                ])
            ),
        ]
        let changed = Set(changes.map(\.0))
        return JSONValue.object(
            (members.filter { !changed.contains($0.0) } + changes).map { JSONValue.Member($0.0, $0.1) }
        ).bytes
    }

    /// The one report in a body.
    static func report(_ body: [UInt8]) throws -> CollectedReport {
        let read = try CollectedReport.read(body, at: self.now)
        #expect(read.reports.count == 1)
        return try #require(read.reports.first)
    }

    /// The one report in a text.
    static func report(_ text: String) throws -> CollectedReport { try self.report(Array(text.utf8)) }

    /// A report of a chain.
    static func report(
        chain: [[UInt8]], _ changes: [(String, JSONValue)] = []
    ) throws -> CollectedReport {
        try self.report(self.body(changes, chain: chain))
    }

    /// The defect of a body, or `nil`.
    static func defect(_ body: [UInt8]) -> ReportError? {
        do throws(ReportError) {
            _ = try CollectedReport.read(body, at: self.now)
            return nil
        } catch {
            return error
        }
    }

    /// The defect of a text, or `nil`.
    static func defect(_ text: String) -> ReportError? { self.defect(Array(text.utf8)) }
}
