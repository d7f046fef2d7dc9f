// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata
internal import PinListStore

/// Reports for other programs, one a line.
enum ReportExport: String, CaseIterable, Sendable {
    /// JSON Lines, with the names that reports have (formats.md, section 5).
    case jsonl
    /// Comma-separated values (RFC 4180), with the same names in the first line.
    case csv

    /// The number of reports that are read at a time.
    static let page = 1_000

    /// The columns, as they are called and in their order.
    static let columns = [
        "number", "received-at", "date-time", "kind", "reason", "hostname", "port", "noted-hostname", "app-bundle-id",
        "app-version", "app-platform", "list-name", "list-version", "leaf-pin", "issuer", "issuer-pin", "signals",
        "sampled", "attestation", "attestation-step",
    ]

    /// The media type.
    var contentType: String { self == .csv ? "text/csv; charset=utf-8; header=present" : "application/jsonl" }

    /// The bytes before the first line.
    var header: [UInt8] { self == .csv ? Array((Self.columns.joined(separator: ",") + "\r\n").utf8) : [] }

    /// One line.
    func line(_ row: [SQLValue]) -> [UInt8] {
        switch self {
        case .jsonl:
            let members = zip(Self.columns, row).map { name, value in
                let json: JSONValue =
                    switch value {
                    case .integer(let number): .integer(number)
                    case .text(let text): .string(text)
                    default: .null
                    }
                return JSONValue.Member(name, json)
            }
            return JSONValue.object(members).bytes + [UInt8(ascii: "\n")]
        case .csv:
            let fields = row.map { value in
                switch value {
                case .integer(let number): "\(number)"
                case .text(let text): Self.quoted(text)
                default: ""
                }
            }
            return Array((fields.joined(separator: ",") + "\r\n").utf8)
        }
    }

    /// A field in quotation marks. What a table program would take for a formula begins with an apostrophe: the texts
    /// are what strangers sent.
    private static func quoted(_ text: String) -> String {
        let first = text.unicodeScalars.first
        let isFormula = first.map { "=+-@\t\r".unicodeScalars.contains($0) } == true
        var escaped = "\"" + (isFormula ? "'" : "")
        for scalar in text.unicodeScalars {
            if scalar == "\"" { escaped += "\"" }
            escaped.unicodeScalars.append(scalar)
        }
        return escaped + "\""
    }
}
