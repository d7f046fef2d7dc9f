// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListMetadata
import Testing

@testable import PinListRepository

/// formats.md, sections 3.1 and 9, as an operator meets them.
@Suite("Roots with a hybrid demand")
struct HybridRootTests {
    private let rootSigner: TestSigner
    private let pinsSigner: TestSigner
    private let quantum: TestSigner
    private let second: TestSigner
    private let root: Root

    init() throws {
        self.rootSigner = try .p256("root")
        self.pinsSigner = try .ed25519("pins")
        self.quantum = try .mlDSA65("quantum")
        self.second = try .mlDSA65("second")
        self.root = try .sample(root: [self.rootSigner], pins: [self.pinsSigner])
    }

    /// The root after ours, whose lists need the key of ML-DSA as well.
    private func hybridRoot(_ edit: (inout RootChange) -> Void = { _ in }) throws(RepositoryError) -> Root {
        var change = RootChange(issuedAt: TestTime.issued)
        change.hybridAdded = [(.pins, self.quantum.key)]
        edit(&change)
        return try change.next(after: self.root)
    }

    private func signed(_ payload: [UInt8], under roots: [Root], by signers: [TestSigner]) async throws -> [UInt8] {
        var ceremony = try SigningCeremony(try SignableMetadata(payload, named: "it"), under: roots)
        for signer in signers { try await ceremony.add(signer) }
        return ceremony.envelope.bytes
    }

    @Test("the first key makes the demand, the next root keeps it, and the last key that goes takes it along")
    func firstKeyMakesTheDemandTheNextRootKeepsItAndTheLastKeyThatGoesTakesItAlong() throws {
        let made = try self.hybridRoot()
        #expect(made.pins.hybrid == Role.Demand(keyIDs: [self.quantum.key.keyID], threshold: 1))
        #expect(made.pins.first == self.root.pins.first)
        #expect(made.root.hybrid == nil)
        let kept = try RootChange(issuedAt: TestTime.issued).next(after: made)
        #expect(kept.pins == made.pins)
        #expect(kept.keys == made.keys)
        var more = RootChange(issuedAt: TestTime.issued)
        more.hybridAdded = [(.pins, self.second.key), (.root, self.second.key)]
        more.hybridThresholds = [(.pins, 2)]
        let two = try more.next(after: made)
        #expect(two.pins.hybrid?.threshold == 2)
        #expect(two.pins.hybrid?.keyIDs == [self.quantum.key.keyID, self.second.key.keyID])
        #expect(two.root.hybrid?.keyIDs == [self.second.key.keyID])
        var less = RootChange(issuedAt: TestTime.issued)
        less.removed = [(.pins, String(self.quantum.key.keyID.prefix(8)))]
        let gone = try less.next(after: made)
        #expect(gone.pins.hybrid == nil)
        #expect(gone.keys[self.quantum.key.keyID] == nil)
        #expect(gone.keys.count == 2)
    }

    @Test("a key that would stand in both, a threshold out of reach, and one without a demand are refused")
    func keyThatWouldStandInBothAThresholdOutOfReachAndOneWithoutADemandAreRefused() throws {
        let attempts: [(inout RootChange) -> Void] = [
            { $0.hybridAdded = [(.pins, self.pinsSigner.key)] },
            { $0.hybridAdded += [(.pins, self.quantum.key)] },
            { $0.added = [(.pins, self.quantum.key)] },
            { $0.hybridThresholds = [(.pins, 2)] },
            { $0.hybridThresholds = [(.root, 1)] },
            { $0.hybridThresholds = [(.pins, 0)] },
        ]
        for (index, attempt) in attempts.enumerated() {
            let error = #expect(throws: RepositoryError.self, "attempt \(index)") { try self.hybridRoot(attempt) }
            #expect(error?.code == .usage)
        }
        // From one to the other it moves.
        var change = RootChange(issuedAt: TestTime.issued)
        change.removed = [(.pins, self.quantum.key.keyID)]
        change.added = [(.pins, self.quantum.key)]
        let moved = try change.next(after: try self.hybridRoot())
        #expect(moved.pins.hybrid == nil)
        #expect(moved.pins.keyIDs == [self.pinsSigner.key.keyID, self.quantum.key.keyID])
    }

    @Test("a ceremony counts both demands, and is done when both are met; its envelope is what both clients take")
    func ceremonyCountsBothDemandsAndIsDoneWhenBothAreMet() async throws {
        let next = try self.hybridRoot()
        let payload = try PinList.sample().payload
        var ceremony = try SigningCeremony(try SignableMetadata(payload, named: "list"), under: [next])
        #expect(ceremony.demands.map(\.isHybrid) == [false, true])
        #expect(ceremony.missing == 2)
        try await ceremony.add(self.pinsSigner)
        #expect(ceremony.missing == 1)
        #expect(!ceremony.isComplete)
        let classical = ceremony.envelope.bytes
        try await ceremony.add(self.quantum)
        #expect(ceremony.isComplete)
        #expect(ceremony.envelope.signatures.map(\.bytes.count) == [64, 3_309])

        let first = try await self.signed(self.root.payload, under: [], by: [self.rootSigner])
        let second = try await self.signed(next.payload, under: [self.root], by: [self.rootSigner])
        for algorithms in [MetadataKey.Algorithm.verifiable, ListSource.defaultVerifiable] {
            var client = try TrustState(bundledRoot: first, bundledList: nil, verifying: algorithms)
            try client.accept(root: second, at: TestTime.issued)
            var other = client
            #expect(try client.accept(list: ceremony.envelope.bytes, at: TestTime.issued) == .newer)
            guard algorithms.contains(.mlDSA65) else {
                #expect(try other.accept(list: classical, at: TestTime.issued) == .newer)
                continue
            }
            let refusal = #expect(throws: MetadataError.self) {
                try other.accept(list: classical, at: TestTime.issued)
            }
            #expect(refusal?.code == .thresholdNotMet)
        }
    }

    @Test("a root needs the hybrid keys of the root before it, and its own")
    func rootNeedsTheHybridKeysOfTheRootBeforeItAndItsOwn() async throws {
        let made = try self.hybridRoot { $0.hybridAdded = [(.root, self.quantum.key)] }
        var change = RootChange(issuedAt: TestTime.issued)
        change.removed = [(.root, self.quantum.key.keyID)]
        change.hybridAdded = [(.root, self.second.key)]
        let next = try change.next(after: made)
        var ceremony = try SigningCeremony(try SignableMetadata(next.payload, named: "root"), under: [made])
        #expect(ceremony.demands.map(\.isHybrid) == [false, true, false, true])
        for (signer, missing) in [(self.rootSigner, 2), (self.second, 1), (self.quantum, 0)] {
            try await ceremony.add(signer)
            #expect(ceremony.missing == missing)
        }
        #expect(ceremony.isComplete)
    }

    @Test("a list that the hybrid keys did not sign is not exported with the root that asks for them")
    func listThatTheHybridKeysDidNotSignIsNotExportedWithTheRootThatAsksForThem() async throws {
        let roots = [
            try await self.signed(self.root.payload, under: [], by: [self.rootSigner]),
            try await self.signed(try self.hybridRoot().payload, under: [self.root], by: [self.rootSigner]),
        ]
        let payload = try PinList.sample().payload
        let classical = try await self.signed(payload, under: [self.root], by: [self.pinsSigner])
        let both = try await self.signed(
            payload, under: [self.root, try self.hybridRoot()], by: [self.pinsSigner, self.quantum])
        #expect(try ListTree(roots: [roots[0]], list: classical).files.count == 2)
        #expect(try ListTree(roots: [roots[0]], list: both).files.count == 2)
        #expect(try ListTree(roots: roots, list: both).files.count == 3)
        let error = #expect(throws: RepositoryError.self) { try ListTree(roots: roots, list: classical) }
        #expect(error?.code == .metadata)
        #expect(error?.reason.contains("hybrid") == true)
    }

    // MARK: Lint

    private func rules(_ root: Root, source text: String? = nil) throws -> [String] {
        let source = try SourceText.read(text ?? SourceText.good())
        var linter = Linter(try PinListBuilt.list(source), at: SourceText.now)
        linter.source = source
        linter.root = root
        return linter.findings.map(\.rule.id).filter { $0 != "root-expires-soon" }
    }

    @Test("a threshold that clients of today cannot reach is an error, unless all of them can verify more")
    func thresholdThatClientsOfTodayCannotReachIsAnErrorUnlessAllOfThemCanVerifyMore() throws {
        let rule = "unverifiable-threshold"
        let text = SourceText.good(list: "verifiable: [ecdsa-p256-sha256, ed25519, ml-dsa-65]")
        let reached = try self.hybridRoot()
        #expect(try self.rules(reached).isEmpty)
        #expect(reached.unreachableThresholds(verifying: ListSource.defaultVerifiable).isEmpty)
        // A key that is one of two is no harm; one that must sign is.
        let oneOfTwo = try self.hybridRoot {
            $0.hybridAdded = []
            $0.added = [(.pins, self.quantum.key)]
        }
        #expect(try self.rules(oneOfTwo).isEmpty)
        let twoOfTwo = try self.hybridRoot {
            $0.hybridAdded = []
            $0.added = [(.pins, self.quantum.key)]
            $0.thresholds = [(.pins, 2)]
        }
        #expect(try self.rules(twoOfTwo) == [rule])
        #expect(try self.rules(twoOfTwo, source: text).isEmpty)
        let found = twoOfTwo.unreachableThresholds(verifying: ListSource.defaultVerifiable)
        #expect(found == [UnreachableThreshold(kind: .pins, verifiable: 1, threshold: 2)])
        let rootAlone = try Root.sample(root: [self.quantum], pins: [self.pinsSigner])
        #expect(try self.rules(rootAlone) == [rule])
        // A client that verifies P-256 alone is left behind by a root that Ed25519 signs.
        let fewer = SourceText.good(list: "verifiable: ecdsa-p256-sha256")
        #expect(try self.rules(self.root, source: fewer) == [rule])
        // A list without its source is looked at with the default, or with the algorithms that are given.
        var linter = Linter(try PinListBuilt.list(SourceText.good()), at: SourceText.now)
        linter.root = twoOfTwo
        #expect(linter.findings.map(\.rule.id).contains(rule))
        linter.verifiable = [.ecdsaP256SHA256, .ed25519, .mlDSA65]
        #expect(!linter.findings.map(\.rule.id).contains(rule))
    }

    @Test("a hybrid demand with a key of an unknown algorithm is made by no client; a key in both roles is shared")
    func hybridDemandWithAKeyOfAnUnknownAlgorithmIsMadeByNoClient() throws {
        let later = try #require(
            MetadataKey(algorithm: MetadataKey.Algorithm(rawValue: "slh-dsa-sha2-128s"), publicKey: [1, 2, 3]))
        let unknown = try self.hybridRoot { $0.hybridAdded.append((.pins, later)) }
        #expect(try self.rules(unknown) == ["hybrid-not-demanded"])
        let shared = try self.hybridRoot { $0.hybridAdded.append((.root, self.quantum.key)) }
        #expect(try self.rules(shared) == ["shared-key"])
    }

    @Test("verifiable in the source: names that are known, at least one, and never in an included file")
    func verifiableInTheSourceNamesThatAreKnownAtLeastOneAndNeverInAnIncludedFile() throws {
        #expect(try SourceText.read("name: a").verifiable == [.ecdsaP256SHA256, .ed25519])
        #expect(try SourceText.read("name: a\nverifiable: [ed25519, ml-dsa-65]").verifiable == [.ed25519, .mlDSA65])
        #expect(
            try ListSource.verifiable(in: Array("name: a\nverifiable: ml-dsa-65\ninclude: [none.yaml]".utf8), file: "t")
                == [.mlDSA65])
        #expect(try SourceText.read("name: a\nverifiable: ed25519") != SourceText.read("name: a"))
        SourceText.expectRefusal("name: a\nverifiable: [mldsa-65]", at: "tumbler.yaml:2:14", "write ml-dsa-65")
        SourceText.expectRefusal("name: a\nverifiable: [x]", at: "tumbler.yaml:2:14", "known are ecdsa-p256-sha256")
        SourceText.expectRefusal("name: a\nverifiable: []", at: "tumbler.yaml:2:1", "empty")
        SourceText.expectRefusal("name: a\nverifiabel: [ed25519]", at: "tumbler.yaml:2:1", "write verifiable")
        SourceText.expectRefusal(
            "name: a\ninclude: [b.yaml]", ["b.yaml": "verifiable: [ed25519]"], at: "b.yaml:1:1", "verifiable",
            "tumbler.yaml")
    }
}
