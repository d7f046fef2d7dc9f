// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import Crypto
import Foundation
import PathValidation
import SwiftASN1
import Testing
import X509

/// Policies (RFC 5280, section 6.1, with the graph of RFC 9618), beside openssl.
@Suite("Certificate policies")
struct PolicyTests {
    private typealias Policy = PolicyExtension

    private static let policies = (1...3).map { Policy.policy($0) }

    /// Makes a chain whose certificates say what they are told, from the one below the anchor down to the leaf.
    private func chain(
        _ said: [[Certificate.Extension]], selfIssued: Set<Int> = []
    ) throws -> (chain: [TestCertificate], root: TestCertificate) {
        let root = try TestCertificate.authority("CA 0", key: Self.keys[0])
        var path = [root]
        var name = "CA 0"
        for (index, extensions) in said.dropLast().enumerated() {
            if !selfIssued.contains(index) { name = "CA \(index + 1)" }
            path.append(
                try TestCertificate.authority(name, by: path[index], key: Self.keys[index + 1]) {
                    $0.others = extensions
                })
        }
        path.append(
            try TestCertificate.server(by: path[said.count - 1], key: Self.keys[5]) { $0.others = said.last ?? [] })
        return (path.dropFirst().reversed(), root)
    }

    /// The same for all chains: making keys and signatures takes most of the time.
    private static let keys = (0..<6).map { _ in Certificate.PrivateKey(P256.Signing.PrivateKey()) }

    private func isAccepted(_ said: [Certificate.Extension]..., selfIssued: Set<Int> = []) async throws -> Bool {
        let (chain, root) = try self.chain(said, selfIssued: selfIssued)
        return try await validate(chain, roots: [root]).path?.count == said.count + 1
    }

    @Test("critical policies and mappings are known, on leaf, issuer and anchor")
    func criticalPoliciesAndMappingsAreKnownOnLeafIssuerAndAnchor() async throws {
        let policies = Policy.policies([Self.policies[0], Policy.any], critical: true)
        #expect(try await self.isAccepted([], [policies]))
        #expect(try await self.isAccepted([policies], [policies]))
        let mappings = Policy.mappings([(Self.policies[0], Self.policies[1])])
        #expect(try await self.isAccepted([policies, mappings], [policies]))
        let anchor = try TestCertificate.authority("Root") { form in
            form.others = [policies, mappings, Policy.constraints(explicit: 0), Policy.inhibitAny(0)]
        }
        // An anchor's policies do not bind.
        #expect(try await validate([try .server(by: anchor)], roots: [anchor]).path != nil)
    }

    @Test("where a policy is demanded, one must hold for the whole path")
    func whereAPolicyIsDemandedOneMustHoldForTheWholePath() async throws {
        let demand = Policy.constraints(explicit: 0)
        let first = Policy.policies([Self.policies[0]])
        let second = Policy.policies([Self.policies[1]])
        let any = Policy.policies([Policy.any])
        #expect(try await self.isAccepted([first, demand], [first]))
        #expect(try await !self.isAccepted([first, demand], [second]))
        #expect(try await !self.isAccepted([first, demand], []))
        #expect(try await !self.isAccepted([demand], [first]))
        #expect(try await self.isAccepted([any, demand], [first]))
        #expect(try await self.isAccepted([first, demand], [any]))
        #expect(try await !self.isAccepted([first, demand, Policy.inhibitAny(0)], [any]))
        // Without the demand nothing is refused.
        #expect(try await self.isAccepted([first], [second]))
        // In two certificates' time; a self-issued one does not count.
        let later = Policy.constraints(explicit: 2)
        #expect(try await !self.isAccepted([later], [first], []))
        #expect(try await self.isAccepted([later], [first], [], selfIssued: [1]))
        // The leaf itself may demand it.
        #expect(try await !self.isAccepted([first], [second, demand]))
    }

    @Test("mappings count until they are inhibited")
    func mappingsCountUntilTheyAreInhibited() async throws {
        let first = Policy.policies([Self.policies[0]])
        let second = Policy.policies([Self.policies[1]])
        let mapping = Policy.mappings([(Self.policies[0], Self.policies[1])])
        let demand = Policy.constraints(explicit: 0)
        #expect(try await self.isAccepted([first, mapping, demand], [second]))
        #expect(try await !self.isAccepted([first, mapping, demand], [first]))
        let inhibited = Policy.constraints(explicit: 0, mapping: 0)
        #expect(try await !self.isAccepted([first, inhibited], [first, mapping], [second]))
        #expect(try await self.isAccepted([first, demand], [first, mapping], [second]))
        // A mapping of a policy that *anyPolicy* stands for.
        let any = Policy.policies([Policy.any])
        #expect(try await self.isAccepted([any, mapping, demand], [second]))
    }

    @Test(
        "what is malformed refuses, below the anchor",
        arguments: [
            ([2, 5, 29, 32], [5, 0]), ([2, 5, 29, 32], [0x30, 0]), ([2, 5, 29, 32], [0x30, 2, 0x30, 0]),
            // A policy twice, qualifiers that are none, an object identifier that is none.
            ([2, 5, 29, 32], [0x30, 12, 0x30, 4, 6, 2, 0x2a, 3, 0x30, 4, 6, 2, 0x2a, 3]),
            (
                [2, 5, 29, 32],
                [0x30, 16] + [0x30, 6, 6, 4, 0x55, 0x1d, 0x20, 0] + [0x30, 6, 6, 4, 0x55, 0x1d, 0x20, 0]
            ),
            ([2, 5, 29, 32], [0x30, 8, 0x30, 6, 6, 2, 0x2a, 3, 0x30, 0]),
            ([2, 5, 29, 32], [0x30, 6, 0x30, 4, 6, 2, 0x2a, 0x83]),
            ([2, 5, 29, 32], [0x30, 7, 0x30, 5, 6, 3, 0x2a, 0x80, 1]),
            ([2, 5, 29, 33], [0x30, 0]), ([2, 5, 29, 33], [0x30, 6, 0x30, 4, 6, 2, 0x2a, 3]),
            // *anyPolicy* mapped, from and to.
            ([2, 5, 29, 33], [0x30, 12, 0x30, 10, 6, 4, 0x55, 0x1d, 0x20, 0, 6, 2, 0x2a, 3]),
            ([2, 5, 29, 33], [0x30, 12, 0x30, 10, 6, 2, 0x2a, 3, 6, 4, 0x55, 0x1d, 0x20, 0]),
            ([2, 5, 29, 36], [0x30, 0]), ([2, 5, 29, 36], [0x30, 3, 0x80, 1, 0x80]),
            ([2, 5, 29, 36], [0x30, 6, 0x81, 1, 0, 0x80, 1, 0]), ([2, 5, 29, 36], [0x30, 3, 0x82, 1, 0]),
            ([2, 5, 29, 36], [0x30, 4, 0x80, 2, 0, 1]), ([2, 5, 29, 36], [0x30, 2, 0x80, 0]),
            ([2, 5, 29, 54], [2, 1, 0xff]), ([2, 5, 29, 54], [5, 0]),
        ] as [([UInt], [UInt8])])
    func whatIsMalformedRefusesBelowTheAnchor(arcs: [UInt], value: [UInt8]) async throws {
        let malformed = Certificate.Extension(oid: try .init(elements: arcs), critical: true, value: value[...])
        #expect(try await !self.isAccepted([malformed], []))
        #expect(try await !self.isAccepted([], [malformed]))
        let anchor = try TestCertificate.authority("Root") { $0.others = [malformed] }
        #expect(try await validate([try .server(by: anchor)], roots: [anchor]).path != nil)
    }

    @Test("policy constraints that are not critical, as openssl writes them, do not make a trusted root untrusted")
    func policyConstraintsThatAreNotCriticalDoNotMakeATrustedRootUntrusted() async throws {
        let constraints = Certificate.Extension(
            oid: [2, 5, 29, 36], critical: false, value: [0x30, 3, 0x80, 1, 0])
        let policies = Policy.policies([Self.policies[0]])
        let root = try TestCertificate.authority("Root") { $0.others = [constraints] }
        let issuer = try TestCertificate.authority("Issuer", by: root) { $0.others = [policies] }
        let leaf = try TestCertificate.server(by: issuer) { $0.others = [policies] }
        #expect(try await validate([leaf, issuer], roots: [root]).path?.count == 3)
        // Below the anchor RFC 5280, section 4.2.1.11, asks for critical ones.
        #expect(try await !self.isAccepted([policies, constraints], [policies]))
    }

    @Test("a number of any size, and a policy with numbers of any size, are read")
    func numberOfAnySizeAndAPolicyWithNumbersOfAnySizeAreRead() async throws {
        let huge = Certificate.Extension(
            oid: [2, 5, 29, 36], critical: true, value: [0x30, 11, 0x80, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0])
        #expect(try await self.isAccepted([huge], []))
        // 2.25 and a UUID.
        let uuid = DERParts.element(6, [0x69, 0x83] + [UInt8](repeating: 0xff, count: 17) + [0x7f])
        let policies = Policy.policies([uuid])
        #expect(try await self.isAccepted([policies, Policy.constraints(explicit: 0)], [policies]))
    }

    /// A certificate's extensions by chance. Nothing is mapped that only *anyPolicy* stands for: there openssl's tree and
    /// RFC 9618's graph differ, and ours is the graph.
    private func extensions(_ random: inout SeededGenerator, isLeaf: Bool) -> [Certificate.Extension] {
        var extensions: [Certificate.Extension] = []
        var named = Self.policies.filter { _ in Bool.random(using: &random) }
        let hasAny = Int.random(in: 0..<3, using: &random) == 0
        if hasAny { named.append(Policy.any) }
        if !named.isEmpty, Int.random(in: 0..<8, using: &random) > 0 {
            extensions.append(Policy.policies(named, critical: Bool.random(using: &random)))
        } else {
            named = []
        }
        if !isLeaf, Bool.random(using: &random) {
            let mappable = hasAny && !named.isEmpty ? named.filter { $0 != Policy.any } : Self.policies
            let pairs = mappable.flatMap { from in Self.policies.map { (from, $0) } }.filter { from, to in
                from != to && Int.random(in: 0..<3, using: &random) == 0
            }
            if !pairs.isEmpty { extensions.append(Policy.mappings(pairs)) }
        }
        if Int.random(in: 0..<3, using: &random) > 0 {
            let explicit = Int.random(in: 0..<4, using: &random) > 0 ? UInt8.random(in: 0...2, using: &random) : nil
            let mapping = Int.random(in: 0..<3, using: &random) == 0 ? UInt8.random(in: 0...1, using: &random) : nil
            if explicit != nil || mapping != nil {
                extensions.append(Policy.constraints(explicit: explicit, mapping: mapping))
            }
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
            extensions.append(Policy.inhibitAny(UInt8.random(in: 0...1, using: &random)))
        }
        return extensions
    }

    @Test(
        "240 chains by chance: the answer is that of openssl verify -policy_check -policy anyPolicy",
        .enabled(if: OpenSSL.installed != nil, "there is no openssl on PATH"))
    func of240ChainsByChanceTheAnswerIsThatOfOpensslVerifyPolicyCheckPolicyAnyPolicy() async throws {
        let openssl = try #require(OpenSSL.installed)
        var random = SeededGenerator(seed: 9_618)
        var answers: [Bool: Int] = [:]
        try await withTemporaryFolder { folder in
            for number in 0..<240 {
                let count = Int.random(in: 2...4, using: &random)
                var selfIssued: Set<Int> = []
                for index in 1..<(count - 1) where Int.random(in: 0..<4, using: &random) == 0 {
                    selfIssued.insert(index)
                }
                var said: [[Certificate.Extension]] = []
                for index in 0..<count { said.append(self.extensions(&random, isLeaf: index == count - 1)) }
                let (chain, root) = try self.chain(said, selfIssued: selfIssued)
                for (name, certificates) in [
                    ("root", [root]), ("chain", Array(chain.dropFirst())), ("leaf", [chain[0]]),
                ] {
                    let text = certificates.map {
                        PEMBlock(label: PEMBlock.certificateLabel, bytes: $0.der).text
                    }
                    try Data(text.joined().utf8).write(to: folder.appendingPathComponent("\(name).pem"))
                }
                let theirs = try await FinishedProcess.run(
                    openssl.executable,
                    [
                        "verify", "-policy_check", "-policy", "anyPolicy", "-attime", "\(TestCertificate.time)",
                        "-CAfile", "root.pem",
                        "-untrusted", "chain.pem", "leaf.pem",
                    ], in: folder)
                let ours = try await validate(chain, roots: [root])
                let words = String(decoding: theirs.output + theirs.errors, as: UTF8.self)
                #expect((ours.path != nil) == (theirs.status == 0), "chain \(number): \(ours.result), \(words)")
                answers[theirs.status == 0, default: 0] += 1
            }
        }
        // Both answers occur often enough to mean something.
        #expect(answers.values.allSatisfy { $0 > 40 } && answers.count == 2, "\(answers)")
    }
}
#endif
