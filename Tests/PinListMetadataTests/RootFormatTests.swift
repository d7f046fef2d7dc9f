// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import PinningTesting
import Testing

/// formats.md, sections 3 and 3.1, sentence by sentence.
@Suite("The format of a root")
struct RootFormatTests {
    private static let repository = Result { try Story.repository(rootKeys: (2, 2), pinsKeys: (2, 1)) }

    private func text() throws -> String {
        String(decoding: try Self.repository.get().root.payload, as: UTF8.self)
    }

    private func refusal(_ text: String) throws -> MetadataError? {
        try PinListMetadataTests.refusal { try Root(payload: Array(text.utf8)) }
    }

    private func edited(_ part: String, _ replacement: String) throws -> String {
        let text = try self.text()
        try #require(text.contains(part), "the root has no \(part)")
        return text.replacingOccurrences(of: part, with: replacement)
    }

    @Test("what is written reads back as the same root")
    func whatIsWrittenReadsBackAsTheSameRoot() throws {
        let root = try Self.repository.get().root
        let read = try Root(payload: root.payload)
        #expect(read == root)
        #expect(read.unknownMembers == [])
        #expect(read.payload == root.payload)
    }

    @Test("a key whose id is another's, in upper case, or of no key at all")
    func keyWhoseIdIsAnothersInUpperCaseOrOfNoKeyAtAll() throws {
        let repository = try Self.repository.get()
        let first = repository.rootKeys[0].keyID
        for other in [first.uppercased(), String(repeating: "0", count: 64), "", first + " "] {
            #expect(try self.refusal(try self.edited("\"\(first)\":{", "\"\(other)\":{"))?.code == .malformed)
        }
        // Two keys with their ids swapped.
        let second = repository.pinsKeys[0].keyID
        let swapped = try self.text().replacingOccurrences(of: "\"\(first)\":{", with: "\"@\":{")
            .replacingOccurrences(of: "\"\(second)\":{", with: "\"\(first)\":{")
            .replacingOccurrences(of: "\"@\":{", with: "\"\(second)\":{")
        #expect(try self.refusal(swapped)?.code == .malformed)
    }

    @Test("an algorithm that the key does not have, or that is no text", arguments: ["\"ed25519\"", "1", "null", "[]"])
    func algorithmThatTheKeyDoesNotHaveOrThatIsNoText(name: String) throws {
        let text = try self.edited(#""algorithm":"ecdsa-p256-sha256""#, #""algorithm":\#(name)"#)
        #expect(try self.refusal(text)?.code == .malformed)
    }

    @Test("a role with a key twice, with one that is not there, with none")
    func roleWithAKeyTwiceWithOneThatIsNotThereWithNone() throws {
        let repository = try Self.repository.get()
        let ids = repository.rootKeys.map(\.keyID)
        let role = #""keyids":["\#(ids[0])","\#(ids[1])"]"#
        for wrong in [
            #""keyids":["\#(ids[0])","\#(ids[0])"]"#, #""keyids":["\#(ids[0])","\#(ids[1].uppercased())"]"#,
            #""keyids":["\#(ids[0])","x"]"#, #""keyids":[]"#, #""keyids":"\#(ids[0])""#, #""keyids":[null,1]"#,
            #""keyid":["\#(ids[0])","\#(ids[1])"]"#,
        ] {
            #expect(try self.refusal(try self.edited(role, wrong))?.code == .malformed, "\(wrong)")
        }
    }

    @Test(
        "thresholds below 1 and above the number of keys", arguments: ["0", "-1", "3", "1.0", "\"2\"", "null", "true"])
    func thresholdsBelow1AndAboveTheNumberOfKeys(threshold: String) throws {
        #expect(try self.refusal(try self.edited(#""threshold":2"#, #""threshold":\#(threshold)"#))?.code == .malformed)
    }

    @Test("a role that is missing; an unknown one is ignored and named")
    func roleThatIsMissingAnUnknownOneIsIgnoredAndNamed() throws {
        #expect(try self.refusal(try self.edited(#""pins":{"#, #""targets":{"#))?.code == .malformed)
        let more = try self.edited(#""roles":{"#, #""roles":{"snapshot":{"keyids":[],"threshold":0},"#)
        #expect(try Root(payload: Array(more.utf8)).unknownMembers == ["roles.snapshot"])
        let key = try self.edited(#"{"algorithm":"ed25519","#, #"{"x":1,"algorithm":"ed25519","#)
        #expect(try Root(payload: Array(key.utf8)).unknownMembers.count == 2)
    }

    @Test("a key of small order, which would let every attacker sign")
    func keyOfSmallOrderWhichWouldLetEveryAttackerSign() throws {
        let repository = try Self.repository.get()
        let der = repository.pinsKeys[1].publicKey.subjectPublicKeyInfo
        let weak = Array(der.prefix(12)) + [1] + [UInt8](repeating: 0, count: 31)
        let text = try self.edited(Base64.encode(der), Base64.encode(weak))
        #expect(try self.refusal(text)?.code == .malformed)
    }

    @Test("the members that all metadata has")
    func membersThatAllMetadataHas() throws {
        for (part, wrong) in [
            (#""version":1,"#, #""version":0,"#), (#""version":1,"#, ""),
            (#""specVersion":"1.0""#, #""specVersion":"2.0""#),
            (#""name":"com.example.app""#, #""name":"a b""#), (#""expiresAt":"2029"#, #""expiresAt":"2025"#),
        ] {
            #expect(try self.refusal(try self.edited(part, wrong))?.code == .malformed)
        }
        #expect(try self.refusal(try self.edited(#""type":"root""#, #""type":"pins""#))?.code == .wrongType)
    }
}
