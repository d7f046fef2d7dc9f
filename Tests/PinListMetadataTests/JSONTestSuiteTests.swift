// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinListMetadata
import TestData
import Testing

/// https://github.com/nst/JSONTestSuite: 95 texts that every parser must accept, 188 that none may.
@Suite(
    "JSONTestSuite",
    .enabled(
        if: SharedData.holds(SharedData.jsonTestSuite), "there is no ../shared/data/json-test-suite beside the checkout"
    ))
struct JSONTestSuiteTests {
    private func files(_ prefix: String, count: Int) throws -> [(name: String, bytes: [UInt8])] {
        let files = try FileManager.default.contentsOfDirectory(
            at: SharedData.jsonTestSuite, includingPropertiesForKeys: nil
        ).filter { $0.lastPathComponent.hasPrefix(prefix) }
        try #require(files.count == count)
        return try files.map { ($0.lastPathComponent, Array(try Data(contentsOf: $0))) }
    }

    @Test("what must not parse does not: not as JSON, not as an envelope, not as metadata")
    func whatMustNotParseDoesNotNotAsJSONNotAsAnEnvelopeNotAsMetadata() throws {
        for (name, bytes) in try self.files("n_", count: 188) {
            #expect(throws: JSONValue.ParsingError.self, "\(name)") { try JSONValue(strict: bytes) }
            #expect(throws: JSONValue.ParsingError.self, "\(name)") {
                try JSONValue(strict: bytes, numbers: .truncated)
            }
            for kind in [MetadataRole.root, .pins] {
                let envelope = try code { try Envelope(bytes, of: kind, limits: MetadataLimits()) }
                #expect(envelope == .malformed, "\(name)")
            }
            #expect(try code { try Root(payload: bytes) } == .malformed, "\(name)")
            #expect(try code { try PinList(payload: bytes) } == .malformed, "\(name)")
        }
    }

    /// What the format refuses on top, and where the suite has it.
    private static let fractions: Set<String> = [
        "y_number.json", "y_number_0e+1.json", "y_number_0e1.json", "y_number_double_close_to_zero.json",
        "y_number_int_with_exp.json", "y_number_real_capital_e.json", "y_number_real_capital_e_neg_exp.json",
        "y_number_real_capital_e_pos_exp.json", "y_number_real_exponent.json", "y_number_real_fraction_exponent.json",
        "y_number_real_neg_exp.json", "y_number_real_pos_exponent.json", "y_number_simple_real.json",
        "y_object_extreme_numbers.json", "y_structure_lonely_negative_real.json",
    ]
    private static let duplicates: Set<String> = [
        "y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json",
    ]

    @Test("what must parse does with a sender's numbers, but for a member twice")
    func whatMustParseDoesWithASendersNumbersButForAMemberTwice() throws {
        let refused = try self.files("y_", count: 95).filter { _, bytes in
            (try? JSONValue(strict: bytes, numbers: .truncated)) == nil
        }
        #expect(Set(refused.map(\.name)) == Self.duplicates)
    }

    @Test("what must parse does; a fraction, an exponent and a member twice are refused with that reason")
    func whatMustParseDoesAFractionAnExponentAndAMemberTwiceAreRefusedWithThatReason() throws {
        var refused: Set<String> = []
        for (name, bytes) in try self.files("y_", count: 95) {
            do {
                let value = try JSONValue(strict: bytes)
                #expect(try JSONValue(strict: value.bytes) == value, "\(name)")
            } catch {
                refused.insert(name)
                let reason =
                    Self.duplicates.contains(name)
                    ? "a repeated member" : "a number with a fraction or an exponent"
                #expect(error.reason == reason, "\(name)")
            }
        }
        #expect(refused == Self.fractions.union(Self.duplicates))
    }

    @Test(
        "and it reads what Python reads",
        .enabled(if: Python.installed != nil, "there is no python3 on PATH to compare with"))
    func andItReadsWhatPythonReads() async throws {
        let accepted = try self.files("y_", count: 95).filter { (try? JSONValue(strict: $0.bytes)) != nil }
        try #require(accepted.count == 95 - Self.fractions.count - Self.duplicates.count)
        // Each text, and what we write for it, a line each as base64.
        let pairs = try accepted.map { file in
            let written = try JSONValue(strict: file.bytes).bytes
            return Data(file.bytes).base64EncodedString() + " " + Data(written).base64EncodedString()
        }
        let script = """
            import base64, json, sys
            lines = sys.stdin.read().split("\\n")
            same = 0
            for line in lines:
                theirs, ours = (json.loads(base64.b64decode(part)) for part in line.split(" "))
                assert theirs == ours and type(theirs) is type(ours), line
                same += 1
            print(same)
            """
        let output = try await Python.run(script, input: Array(pairs.joined(separator: "\n").utf8))
        #expect(output == String(accepted.count))
    }
}
