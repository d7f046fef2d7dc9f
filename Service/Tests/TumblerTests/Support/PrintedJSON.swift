// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The output of `pin --json` for each pin.
struct PrintedPin: Decodable, Equatable {
    static let members: Set = [
        "pin", "kind", "source", "position", "subject", "algorithm", "notBefore", "notAfter",
    ]

    let pin: String
    let kind: String
    let source: String
    let position: String?
    let subject: String?
    let algorithm: String
    let notBefore: String?
    let notAfter: String?
}

/// The output of `evaluate --json`, and of `evaluate --batch` for each line.
struct PrintedDecision: Decodable, Equatable {
    /// The members of formats.md, section 4.
    static let members: Set = [
        "host", "notedHostname", "verdict", "enforced", "reason", "matched", "matchedIssuer", "path", "list",
    ]

    struct Match: Decodable, Equatable {
        let pin: String
        let index: Int
    }

    let host: String
    let notedHostname: String?
    let verdict: String
    let enforced: Bool
    let reason: String
    let matched: Match?
    let path: [String?]
    let detail: String?
}

/// The `id` of a question, given back with the answer.
enum PrintedIdentifier: Codable, Hashable {
    case text(String)
    case number(Int64)

    /// The text, or `nil` for a number.
    var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self = .text(text)
        } else {
            self = .number(try container.decode(Int64.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        }
    }
}

extension CommandRun {
    /// The one value that was printed, which must be one line.
    func decoded<Value: Decodable>(
        as type: Value.Type = Value.self, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Value {
        try #require(self.lines.count == 1, "\(self)", sourceLocation: sourceLocation)
        return try JSONDecoder().decode(type, from: self.outputBytes)
    }

    /// The members of each object that was printed.
    func members() throws -> [Set<String>] {
        let value = try JSONSerialization.jsonObject(with: self.outputBytes)
        let objects = try #require(value as? [[String: Any]] ?? (value as? [String: Any]).map { [$0] })
        return objects.map { Set($0.keys) }
    }
}
