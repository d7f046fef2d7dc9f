// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinListMetadata
import PinListRepository
import Testing

@Suite("A ceremony of signers")
struct SigningCeremonyTests {
    private let root: Root
    private let signers: [TestSigner]
    private let payload: [UInt8]

    init() throws {
        self.signers = [
            try .p256("raw"), try .p256("der", der: true), try .ed25519("edwards"), try .p256("stranger"),
        ]
        self.root = try .sample(root: [signers[0]], pins: Array(signers[..<3]), pinsThreshold: 2)
        self.payload = try PinList.sample().payload
    }

    private func ceremony(_ bytes: [UInt8]? = nil) throws -> SigningCeremony {
        try SigningCeremony(try SignableMetadata(bytes ?? self.payload, named: "list"), under: [self.root])
    }

    @Test("counts what is missing, and takes raw, DER and Ed25519 signatures, 64 bytes of each")
    func countsWhatIsMissingAndTakesRawDERAndEd25519Signatures64BytesOfEach() async throws {
        var ceremony = try self.ceremony()
        #expect(ceremony.missing == 2)
        try await ceremony.add(self.signers[1])
        #expect(ceremony.missing == 1)
        #expect(!ceremony.isComplete)
        try await ceremony.add(self.signers[2])
        #expect(ceremony.isComplete)
        try await ceremony.add(self.signers[0])
        #expect(ceremony.envelope.signatures.map(\.keyID) == [1, 2, 0].map { self.signers[$0].key.keyID })
        #expect(ceremony.envelope.signatures.allSatisfy { $0.bytes.count == 64 })
        #expect(ceremony.envelope.payload == self.payload)
    }

    @Test("lets a client take the list as it is")
    func letsAClientTakeTheListAsItIs() async throws {
        var roots = try SigningCeremony(try SignableMetadata(self.root.payload, named: "root"), under: [])
        try await roots.add(self.signers[0])
        #expect(roots.isComplete)
        var lists = try self.ceremony()
        try await lists.add(self.signers[0])
        var state = try TrustState(bundledRoot: roots.envelope.bytes, bundledList: nil)
        let refusal = #expect(throws: MetadataError.self) {
            _ = try state.accept(list: lists.envelope.bytes, at: TestTime.issued)
        }
        #expect(refusal?.code == .thresholdNotMet)
        try await lists.add(self.signers[2])
        #expect(try state.accept(list: lists.envelope.bytes, at: TestTime.issued) == .newer)
    }

    @Test("has a key that signs again count once, with its last signature")
    func hasAKeyThatSignsAgainCountOnceWithItsLastSignature() async throws {
        var first = try self.ceremony()
        try await first.add(self.signers[0])
        var second = try self.ceremony(first.envelope.bytes)
        try await second.add(self.signers[0])
        #expect(second.envelope.signatures.count == 1)
        #expect(second.envelope.signatures != first.envelope.signatures)
        #expect(second.additions.map(\.isReplacement) == [true])
        #expect(second.missing == 1)
    }

    @Test("takes no signature of a key that is in no root, and none of a signer that answers rubbish")
    func takesNoSignatureOfAKeyThatIsInNoRootAndNoneOfASignerThatAnswersRubbish() async throws {
        let signer = self.signers[0]
        let answers: [@Sendable ([UInt8]) throws -> [UInt8]] = [
            { _ in [] }, { _ in Array(repeating: 0, count: 64) }, { $0.dropLast() + [] }, { $0 + [10] },
            { Array(Data($0).base64EncodedString().utf8) }, { [0x30, 0x44] + $0 },
            { $0.reversed() }, { _ in throw CancellationError() }, { _ in Array(repeating: 0x30, count: 5_000) },
        ]
        for rubbish in try answers.map(signer.answering) + [self.signers[3]] {
            var ceremony = try self.ceremony()
            do {
                try await ceremony.add(rubbish)
                Issue.record("a signature was taken")
            } catch {
                #expect(error.code == .signer)
            }
            #expect(ceremony.envelope.signatures.isEmpty)
            #expect(ceremony.missing == 2)
        }
    }

    @Test("signs for each root that is given, the old and the new, and is done when both are satisfied")
    func signsForEachRootThatIsGivenTheOldAndTheNewAndIsDoneWhenBothAreSatisfied() async throws {
        let other = try Root.sample(root: [self.signers[3]], pins: [self.signers[3]])
        var ceremony = try SigningCeremony(
            try SignableMetadata(self.payload, named: "list"), under: [self.root, other])
        #expect(ceremony.missing == 3)
        try await ceremony.add(self.signers[3])
        #expect(ceremony.missing == 2)
        try await ceremony.add(self.signers[0])
        try await ceremony.add(self.signers[1])
        #expect(ceremony.isComplete)
    }

    @Test("wants a new root signed by its own keys and by those of the root before it")
    func wantsANewRootSignedByItsOwnKeysAndByThoseOfTheRootBeforeIt() async throws {
        var change = RootChange(issuedAt: TestTime.after(days: 1))
        change.added = [(.root, self.signers[3].key)]
        change.removed = [(.root, self.signers[0].key.keyID)]
        let next = try change.next(after: self.root)
        let metadata = try SignableMetadata(next.payload, named: "root")

        var alone = try SigningCeremony(metadata, under: [])
        #expect(alone.unknownRoot == 1)
        try await alone.add(self.signers[3])
        #expect(alone.missing == 0)
        #expect(!alone.isComplete)

        var ceremony = try SigningCeremony(metadata, under: [self.root])
        #expect(ceremony.missing == 2)
        try await ceremony.add(self.signers[3])
        try await ceremony.add(self.signers[0])
        #expect(ceremony.isComplete)

        var first = try SigningCeremony(try SignableMetadata(self.root.payload, named: "root"), under: [])
        try await first.add(self.signers[0])
        var chain = try RootChain(shipped: first.envelope.bytes)
        #expect(try chain.append(ceremony.envelope.bytes, at: TestTime.after(days: 1)).version == 2)
        // A key of the pins role is no key of the root role.
        var pins = try SigningCeremony(metadata, under: [self.root])
        await #expect(throws: RepositoryError.self) { try await pins.add(self.signers[1]) }
    }

    @Test("keeps the signatures that it does not know, and makes no envelope of over 32")
    func keepsTheSignaturesThatItDoesNotKnowAndMakesNoEnvelopeOfOver32() async throws {
        func envelope(_ range: Range<Int>) throws -> SignableMetadata {
            let signatures = range.map { Envelope.Signature(keyID: "\($0)", bytes: [UInt8](repeating: 7, count: $0)) }
            let payload = self.payload
            let envelope = Envelope(
                payloadType: Envelope.payloadType(of: .pins), payload: payload, signatures: signatures)
            return try SignableMetadata(envelope.bytes, named: "list")
        }
        var roomy = try SigningCeremony(try envelope(0..<31), under: [self.root])
        try await roomy.add(self.signers[0])
        #expect(roomy.envelope.signatures.count == 32)
        try await roomy.add(self.signers[0])
        #expect(roomy.envelope.signatures.count == 32)
        var full = try SigningCeremony(try envelope(0..<32), under: [self.root])
        await #expect(throws: RepositoryError.self) { try await full.add(self.signers[0]) }
        let parts = [("a", try envelope(0..<20)), ("b", try envelope(10..<33))].map { (name: $0.0, metadata: $0.1) }
        #expect(throws: RepositoryError.self) { try EnvelopeUnion.join(parts) }
        let fitting = [("a", try envelope(0..<20)), ("b", try envelope(10..<32))].map { (name: $0.0, metadata: $0.1) }
        #expect(try EnvelopeUnion.join(fitting).signatures.count == 32)
    }

    @Test("does not begin over a payload with unknown members, nor for another name")
    func doesNotBeginOverAPayloadWithUnknownMembersNorForAnotherName() throws {
        let text = String(decoding: self.payload, as: UTF8.self)
        let unknown = Array(text.replacing("{\"type\"", with: "{\"surprise\":1,\"type\"").utf8)
        let other = try PinList.sample(name: "com.example.other").payload
        for bytes in [unknown, other] {
            #expect(throws: RepositoryError.self) { try self.ceremony(bytes) }
        }
        #expect(throws: RepositoryError.self) {
            try SigningCeremony(try SignableMetadata(self.payload, named: "list"), under: [])
        }
    }

    @Test("tells payloads from envelopes and roots from lists, and rubbish from all of them")
    func tellsPayloadsFromEnvelopesAndRootsFromListsAndRubbishFromAllOfThem() async throws {
        #expect(try SignableMetadata(self.payload, named: "x").kind == .pins)
        #expect(try !SignableMetadata(self.payload, named: "x").isEnvelope)
        let root = try SignableMetadata(self.root.payload, named: "x")
        #expect(root.kind == .root)
        #expect(try SignableMetadata(root.envelope.bytes, named: "x").isEnvelope)
        #expect(try SignableMetadata(root.envelope.bytes, named: "x").kind == .root)
        let rubbish = ["", "[]", "{}", "{\"type\":\"roof\"}", "{\"type\":1}", "nonsense", "{\"payloadType\":\"x\"}"]
        for text in rubbish {
            let error = #expect(throws: RepositoryError.self) { try SignableMetadata(Array(text.utf8), named: "x") }
            #expect(error?.code == .metadata, "\(text)")
        }
    }

    @Test("joins what signers did apart, and nothing over another payload")
    func joinsWhatSignersDidApartAndNothingOverAnotherPayload() async throws {
        var envelopes: [(name: String, metadata: SignableMetadata)] = []
        for signer in self.signers[..<3] {
            var ceremony = try self.ceremony()
            try await ceremony.add(signer)
            envelopes.append((signer.name, try SignableMetadata(ceremony.envelope.bytes, named: signer.name)))
        }
        let joined = try EnvelopeUnion.join(envelopes + envelopes)
        #expect(joined.signatures.count == 3)
        #expect(SignatureDemand.all(.pins, of: self.root).map { $0.signers(of: joined).count } == [3])

        // The same list in other bytes: equal for a reader of JSON, and not what was signed.
        let spaced = Array(
            String(decoding: self.payload, as: UTF8.self).replacing("\"type\":", with: "\"type\": ").utf8)
        var other = try self.ceremony(spaced)
        try await other.add(self.signers[0])
        let foreign = try SignableMetadata(other.envelope.bytes, named: "other")
        #expect(throws: RepositoryError.self) { try EnvelopeUnion.join(envelopes + [("other", foreign)]) }
        let payload = try SignableMetadata(self.payload, named: "payload")
        #expect(throws: RepositoryError.self) { try EnvelopeUnion.join([("payload", payload)]) }
        #expect(throws: RepositoryError.self) { try EnvelopeUnion.join([]) }
    }
}
