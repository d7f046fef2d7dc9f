// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Testing

@testable import PinListMetadata

@Suite("What a list says of Certificate Transparency")
struct TransparencyFormatTests {
    private static let digest = String(repeating: "0a", count: 32)

    private static func payload(logs: String? = nil, transparency: String? = nil) -> [UInt8] {
        let logs = logs.map { "\"logs\": \($0), " } ?? ""
        let transparency = transparency.map { ", \"transparency\": \($0)" } ?? ""
        return Array(
            """
            {"type": "pins", "specVersion": "1.0", "name": "com.example.app", "version": 1,
             "issuedAt": "2026-11-21T00:00:00Z", "expiresAt": "2027-01-20T00:00:00Z", \(logs)"domains": [
              {"domain": "api.example.com", "pins": [{"pin": "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}]\(transparency)}]}
            """.utf8)
    }

    private static func code(logs: String? = nil, transparency: String? = nil) -> MetadataError.Code? {
        do throws(MetadataError) {
            _ = try PinList(payload: Self.payload(logs: logs, transparency: transparency))
            return nil
        } catch {
            return error.code
        }
    }

    @Test("reads back as it was written, the log list and each rule")
    func readsBackAsItWasWrittenTheLogListAndEachRule() throws {
        let logs = try #require(ListedLogs(digest: Self.digest, length: 61_234))
        for mode in TransparencyRule.Mode.allCases {
            for policy in TransparencyRule.Policy.allCases {
                let read = try PinList(
                    payload: Self.payload(
                        logs: #"{"sha256": "\#(Self.digest)", "length": 61234}"#,
                        transparency: #"{"mode": "\#(mode.rawValue)", "policy": "\#(policy.rawValue)"}"#))
                #expect(read.logs == logs && read.domains[0].entry.transparency == TransparencyRule(mode, policy))
                #expect(try PinList(payload: read.payload) == read)
                #expect(read.unknownMembers.isEmpty && read.unknownTransparencyCount == 0)
            }
        }
        #expect(logs.path == "/logs/\(Self.digest).json")
    }

    @Test("off is the default, and asks for no policy")
    func offIsTheDefaultAndAsksForNoPolicy() throws {
        for text in [nil, "{}", #"{"mode": "off"}"#, #"{"mode": "off", "policy": "chrome"}"#, #"{"policy": "apple"}"#] {
            let read = try PinList(payload: Self.payload(transparency: text))
            #expect(read.domains[0].entry.transparency == nil && read.unknownTransparencyCount == 0)
            #expect(!read.asksForTransparency)
        }
    }

    @Test("a mode or a policy that is not known is counted, asks for nothing and refuses no list")
    func modeOrAPolicyThatIsNotKnownIsCountedAsksForNothingAndRefusesNoList() throws {
        for text in [
            #"{"mode": "insist", "policy": "chrome"}"#, #"{"mode": "enforce", "policy": "chrome-2027"}"#,
            #"{"mode": "insist"}"#, #"{"mode": "", "policy": ""}"#,
        ] {
            let read = try PinList(payload: Self.payload(transparency: text))
            #expect(read.domains[0].entry.transparency == nil && read.unknownTransparencyCount == 1, "\(text)")
        }
    }

    @Test(
        "any other shape is malformed",
        arguments: [
            "null", "[]", "\"chrome\"", #"{"mode": 1}"#, #"{"mode": null}"#, #"{"mode": "enforce"}"#,
            #"{"mode": "enforce", "policy": 1}"#, #"{"mode": "off", "policy": true}"#,
        ])
    func anyOtherShapeIsMalformed(_ text: String) { #expect(Self.code(transparency: text) == .malformed) }

    @Test("a log list is named by 64 digits of lower-case hex and 1 to 4,194,304 bytes, and by nothing else")
    func logListIsNamedBy64DigitsOfLowerCaseHexAnd1To4194304BytesAndByNothingElse() {
        for length in ["1", "4194304"] {
            #expect(Self.code(logs: #"{"sha256": "\#(Self.digest)", "length": \#(length)}"#) == nil)
        }
        let wrong = [
            "null", "[]", "{}", #"{"sha256": "\#(Self.digest)"}"#, #"{"length": 1}"#,
            #"{"sha256": "\#(Self.digest.uppercased())", "length": 1}"#,
            #"{"sha256": "\#(Self.digest.dropLast())", "length": 1}"#, #"{"sha256": "\#(Self.digest)0", "length": 1}"#,
            #"{"sha256": "\#(Self.digest.dropLast(2))\u00e9", "length": 1}"#,
            #"{"sha256": "../\#(Self.digest.dropLast(3))", "length": 1}"#, #"{"sha256": 1, "length": 1}"#,
        ]
        for text in wrong { #expect(Self.code(logs: text) == .malformed, "\(text)") }
        for length in ["0", "-1", "4194305", "1.0", "1e3", "\"1\"", "9223372036854775808"] {
            #expect(Self.code(logs: #"{"sha256": "\#(Self.digest)", "length": \#(length)}"#) == .malformed)
        }
    }
}
