// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import Testing

/// What a later version writes and this one cannot use must never open an entry, and never refuse the list.
@Suite("Pins of a form to come")
struct UnusablePinTests {
    private func list(_ domain: String) throws -> PinList {
        try PinList(payload: Array(Payload.list(domain: domain).utf8))
    }

    private func decision(_ list: PinList) throws -> PinningDecision {
        let policy = try list.policy(for: nil, isStale: false)
        let path = ValidatedPath(uncheckedValidatedPath: [[0x30]])
        return policy.validate(path, for: "a.example", at: Story.start)
    }

    @Test("another hash, or an unknown position: counted; what is left still decides")
    func anotherHashOrAnUnknownPositionCountedWhatIsLeftStillDecides() throws {
        let list = try self.list(
            #"""
            {"domain":"a.example","pins":[{"pin":"sha512/xx"},{"pin":"\#(Story.pin(1))","position":"anchor"},
             {"pin":"SHA256/xx"},{"pin":""},{"pin":"\#(Story.pin(2))"}]}
            """#)
        #expect(list.unusablePinCount == 4)
        #expect(list.domains.first?.entry.pins == [KnownPin(Story.pin(2))])
    }

    @Test("an enforcing entry that is left without a usable pin blocks")
    func enforcingEntryThatIsLeftWithoutAUsablePinBlocks() throws {
        let list = try self.list(#"{"domain":"a.example","pins":[{"pin":"sha512/xx"}]}"#)
        let decision = try self.decision(list)
        #expect(decision.verdict == .block)
        #expect(decision.reason == .noMatchingPin)
    }

    @Test("with requireIssuer too: the list is good, and the entry blocks")
    func withRequireIssuerTooTheListIsGoodAndTheEntryBlocks() throws {
        let list = try self.list(
            #"""
            {"domain":"a.example","requireIssuer":true,
             "pins":[{"pin":"sha512/xx","position":"leaf"},{"pin":"\#(Story.pin(2))","position":"issuer"}]}
            """#)
        #expect(list.unusablePinCount == 1)
        #expect(try self.decision(list).verdict == .block)
    }

    @Test(
        "requireIssuer without both positions, or with an any pin of any form",
        arguments: [
            ["leaf"], ["issuer"], ["leaf", "leaf"], ["leaf", "issuer", "any"], ["any"], ["leaf", "issuer", ""],
        ])
    func requireIssuerWithoutBothPositionsOrWithAnAnyPinOfAnyForm(positions: [String]) throws {
        for hash in [Story.pin(1).description, "sha512/xx"] {
            let pins = positions.map { position in
                position.isEmpty ? #"{"pin":"\#(hash)"}"# : #"{"pin":"\#(hash)","position":"\#(position)"}"#
            }
            let domain = #"{"domain":"a.example","requireIssuer":true,"pins":[\#(pins.joined(separator: ","))]}"#
            #expect(try Payload.refusal(list: Payload.list(domain: domain))?.code == .malformed)
        }
    }

    @Test(
        "a pin of a known form that is not 32 bytes is malformed",
        arguments: [
            "sha256/", "sha256/AAAA", "cert-sha256/AAAA", "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
            "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU", "sha256/47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU=",
            "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFV=", "sha256/\u{301}", "cert-sha256/\u{301}",
            "sha256/ 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        ])
    func pinOfAKnownFormThatIsNot32BytesIsMalformed(pin: String) throws {
        let domain = #"{"domain":"a.example","pins":[{"pin":"\#(pin)"}]}"#
        #expect(try Payload.refusal(list: Payload.list(domain: domain))?.code == .malformed)
    }

    @Test("denied keys: a bare string enforces, another form matches nothing and is counted, an unknown mode refuses")
    func deniedKeysABareStringEnforcesAnotherFormMatchesNothingAndIsCounted() throws {
        func list(_ denied: String) -> String {
            Payload.list(domain: "").replacing(denied: denied)
        }
        let good = list(
            #"["\#(Story.pin(1))",{"pin":"sha512/x","mode":"report"},{"pin":"\#(Story.pin(2))","mode":"report"}]"#)
        let read = try PinList(payload: Array(good.utf8))
        #expect(read.denied == [DeniedKey(Story.pin(1)), DeniedKey(Story.pin(2), isEnforced: false)])
        #expect(read.unusablePinCount == 1)
        for denied in [#"["sha256/x"]"#, "[1]", "[null]", "{}", #"[{"pin":"sha512/x","mode":"off"}]"#, "[{}]", "[[]]"] {
            #expect(try Payload.refusal(list: list(denied))?.code == .malformed)
        }
    }
}

extension String {
    fileprivate func replacing(denied: String) -> String { self.dropLast() + #","denied":\#(denied)}"# }
}
