// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinListMetadata

/// Payloads as text, so that a test can write what no builder would.
enum Payload {
    /// The list of formats.md, section 3.2, with pins that are pins.
    static let list = """
        {"type": "pins", "specVersion": "1.0", "name": "com.example.app", "version": 7,
         "issuedAt": "2026-11-21T00:00:00Z", "expiresAt": "2027-01-20T00:00:00Z", "refreshAfter": 43200,
         "reportTo": ["https://reports.example.com/v1/reports"],
         "domains": [
           {"domain": "api.example.com", "includeSubdomains": true, "mode": "enforce", "rollout": 100,
            "pins": [{"pin": "\(Story.pin(1))", "position": "any", "note": "current"},
                     {"pin": "\(Story.pin(2))", "note": "backup"}],
            "requireIssuer": false, "expiresAt": "2027-06-01T00:00:00Z",
            "reportTo": ["https://reports.example.com/v1/reports"]}],
         "denied": [{"pin": "\(Story.pin(3))", "mode": "enforce", "note": "stolen 2026-11"}],
         "suspended": [{"domain": "api.example.com", "until": "2026-11-22T12:00:00Z", "reason": "incident 4711"}],
         "unlisted": "allow"}
        """

    /// A list with one entry, given as JSON.
    static func list(domain: String) -> String {
        """
        {"type":"pins","specVersion":"1.0","name":"x","version":1,"issuedAt":"2026-11-21T00:00:00Z",\
        "expiresAt":"2027-01-20T00:00:00Z","domains":[\(domain)]}
        """
    }

    /// The refusal of a list's payload, or `nil`.
    static func refusal(list text: String) throws -> MetadataError? {
        try refusal { try PinList(payload: Array(text.utf8)) }
    }

    private static func refusal<Result>(_ body: () throws -> Result) throws -> MetadataError? {
        do {
            _ = try body()
            return nil
        } catch let refusal as MetadataError {
            return refusal
        }
    }
}
