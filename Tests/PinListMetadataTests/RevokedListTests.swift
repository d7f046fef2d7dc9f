// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import Testing

/// `revoked` of formats.md, section 3.2.
@Suite("Revoked certificates in a list")
struct RevokedListTests {
    private func text(_ revoked: String) -> String {
        Payload.list.replacingOccurrences(of: #""unlisted""#, with: #""revoked": \#(revoked), "unlisted""#)
    }

    private func list(_ revoked: String) throws -> PinList { try PinList(payload: Array(self.text(revoked).utf8)) }

    @Test("issuer, serial numbers, mode and note; written and read back it is the same")
    func issuerSerialNumbersModeAndNoteWrittenAndReadBackItIsTheSame() throws {
        let list = try self.list(
            #"[{"issuer":"\#(Story.pin(1))","serials":["0a1b","00ff","80"],"note":"stolen"},"#
                + #"{"issuer":"\#(Story.pin(2))","serials":["0a1b"],"mode":"report"}]"#)
        #expect(
            list.revoked == [
                RevokedCertificates(
                    issuer: Story.pin(1),
                    serials: [try SerialNumber("0a1b"), try SerialNumber("00ff"), try SerialNumber("80")],
                    note: "stolen"),
                RevokedCertificates(issuer: Story.pin(2), serials: [try SerialNumber("0a1b")], isEnforced: false),
            ])
        #expect(list.unknownMembers == [])
        #expect(try PinList(payload: list.payload) == list)
        #expect(try PinList(payload: Array(Payload.list.utf8)).revoked == [])
        let policy = try list.policy(for: nil, isStale: false)
        #expect(policy.revoked == list.revoked)
    }

    @Test(
        "revoked certificates of another form are malformed",
        arguments: [
            #"{}"#, #"["0a"]"#, #"[{}]"#, #"[{"serials":["0a"]}]"#, #"[{"issuer":"PIN"}]"#,
            #"[{"issuer":"PIN","serials":"0a"}]"#, #"[{"issuer":"PIN","serials":[10]}]"#,
            #"[{"issuer":"PIN","serials":[""]}]"#, #"[{"issuer":"PIN","serials":["0"]}]"#,
            #"[{"issuer":"PIN","serials":["0A"]}]"#, #"[{"issuer":"PIN","serials":["000a"]}]"#,
            #"[{"issuer":"PIN","serials":["ff80"]}]"#, #"[{"issuer":"PIN","serials":["0a","0a"]}]"#,
            #"[{"issuer":"PIN","serials":["0a"]},{"issuer":"PIN","serials":["0a"],"mode":"report"}]"#,
            #"[{"issuer":"PIN","serials":["0a"],"mode":"off"}]"#, #"[{"issuer":"PIN","serials":["0a"],"note":1}]"#,
            #"[{"issuer":"sha256/AAAA","serials":["0a"]}]"#,
        ])
    func revokedOfAnotherFormIsMalformed(revoked: String) throws {
        let text = self.text(revoked.replacingOccurrences(of: "PIN", with: "\(Story.pin(1))"))
        #expect(try Payload.refusal(list: text)?.code == .malformed)
    }

    @Test("the pin of a certificate is none of an issuing key; a pin of a form to come matches nothing, and is counted")
    func pinOfACertificateIsNoneOfAnIssuingKey() throws {
        let certificate = "\(Story.pin(1))".replacingOccurrences(of: "sha256/", with: "cert-sha256/")
        #expect(
            try Payload.refusal(list: self.text(#"[{"issuer":"\#(certificate)","serials":["0a"]}]"#))?.code
                == .malformed)
        let list = try self.list(#"[{"issuer":"sha512/AAAA","serials":["0a"]}]"#)
        #expect(list.revoked == [])
        #expect(list.unusableRevoked == 1)
        #expect(list.unusablePinCount == 1)
    }

    @Test("256 issuers, 4,096 serial numbers in all, 64 octets: at the edge and beyond")
    func issuersSerialNumbersInAllOctetsAtTheEdgeAndBeyond() throws {
        func entries(_ count: Int, serials: Int) -> String {
            let entries = (0..<count).map { number in
                let serials = (0..<serials).map { "\"\(String(0x1000_0000 + $0, radix: 16))\"" }.joined(separator: ",")
                let issuer = Pin(kind: .publicKey, hashing: [UInt8(number & 255), UInt8(number >> 8)])
                return #"{"issuer":"\#(issuer)","serials":[\#(serials)]}"#
            }
            return "[\(entries.joined(separator: ","))]"
        }
        #expect(try self.list(entries(256, serials: 16)).revoked.count == 256)
        #expect(try Payload.refusal(list: self.text(entries(257, serials: 1)))?.code == .malformed)
        #expect(try Payload.refusal(list: self.text(entries(241, serials: 17)))?.code == .malformed)
        #expect(try Payload.refusal(list: self.text(entries(1, serials: 4_097)))?.code == .malformed)
        #expect(try self.list(entries(1, serials: 4_096)).revoked.first?.serials.count == 4_096)
        for (octets, isGood) in [(64, true), (65, false)] {
            let serial = String(repeating: "11", count: octets)
            let text = self.text(#"[{"issuer":"\#(Story.pin(1))","serials":["\#(serial)"]}]"#)
            #expect(try (Payload.refusal(list: text) == nil) == isGood)
        }
    }
}
