// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import Crypto
import PathValidation
import Testing
import X509

/// A peer chooses what it presents; what it costs us is bounded by counts.
@Suite("Work that a peer can cause")
struct PathBudgetTests {
    /// A lattice: so many levels of so many CAs, each level with one name and one key, signed by the level above once
    /// for each CA. Every CA of a level can issue every one below, so that paths multiply.
    private func lattice(levels: Int, width: Int) throws -> (leaf: TestCertificate, intermediates: [TestCertificate]) {
        let keys = (0...levels).map { _ in Certificate.PrivateKey(P256.Signing.PrivateKey()) }
        var above = try TestCertificate.authority("Level \(levels)", key: keys[levels])
        var all: [TestCertificate] = []
        for level in (0..<levels).reversed() {
            let row = try (0..<width).map { index in
                try TestCertificate.authority("Level \(level)", by: above, key: keys[level]) { form in
                    form.serialNumber = Certificate.SerialNumber(index + 1)
                    // Other names make other nodes of the same name and key.
                    form.names = [.dnsName("ca-\(index).example")]
                }
            }
            all += row
            above = row[0]
        }
        return (try TestCertificate.server(by: above), all)
    }

    @Test("32 cross-signed intermediates end over budget, at the limit of steps, with a signature check for each edge")
    func of32CrossSignedIntermediatesEndOverBudgetAtTheLimitOfSteps() async throws {
        let (leaf, intermediates) = try self.lattice(levels: 4, width: 8)
        let stranger = try TestCertificate.authority("Stranger")
        let outcome = try await validate([leaf] + intermediates, roots: [stranger])
        #expect(intermediates.count == 32)
        #expect(outcome.refusal?.reason == .overBudget)
        #expect(outcome.work.candidateSteps == PathLimits.standard.candidateSteps + 1)
        // The leaf's edge, and 8 children each on three levels: all 8 issuers of a level have one key.
        #expect(outcome.work.signatureChecks <= 1 + 3 * 8)
        #expect(outcome.work.examinedPaths == 0)
    }

    @Test("the same lattice under an anchor validates with the steps of one path")
    func sameLatticeUnderAnAnchorValidatesWithTheStepsOfOnePath() async throws {
        let (leaf, intermediates) = try self.lattice(levels: 4, width: 8)
        let anchor = try TestCertificate.authority("Level 3", key: intermediates[0].key)
        let outcome = try await validate([leaf] + intermediates, roots: [anchor])
        #expect(outcome.path?.last == anchor.der)
        #expect(outcome.work.candidateSteps < 64)
    }

    @Test("each child is checked against each issuer key once, however many certificates carry the key")
    func eachChildIsCheckedAgainstEachIssuerKeyOnceHoweverManyCertificatesCarryTheKey() async throws {
        let root = try TestCertificate.authority("Root")
        let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let crossSigns = try (1...20).map { index in
            try TestCertificate.authority("Issuer", by: try TestCertificate.authority("Elsewhere \(index)"), key: key)
        }
        let leaf = try TestCertificate.server(by: crossSigns[0])
        let outcome = try await validate([leaf] + crossSigns, roots: [root])
        #expect(outcome.refusal?.reason == .chainInvalid)
        #expect(outcome.work.signatureChecks == 1)
        #expect(outcome.work.candidateSteps == 20)
    }

    @Test("one good issuer among 60 impostors of its name is found by its key identifier, with two checks")
    func oneGoodIssuerAmong60ImpostorsOfItsNameIsFoundByItsKeyIdentifierWithTwoChecks() async throws {
        let root = try TestCertificate.authority("Root")
        let issuer = try TestCertificate.authority("Issuer", by: root)
        let impostors = try (1...60).map { _ in try TestCertificate.authority("Issuer", by: root) }
        let leaf = try TestCertificate.server(by: issuer)
        let outcome = try await validate([leaf] + impostors + [issuer], roots: [root])
        #expect(outcome.path == [leaf.der, issuer.der, root.der])
        // Both by the verifier: the path stands out, and the search takes its word for the signatures.
        #expect(outcome.work.signatureChecks == 2)
    }

    @Test("impostors that copy the key identifier cost signature checks, and no more than the budget has")
    func impostorsThatCopyTheKeyIdentifierCostSignatureChecks() async throws {
        let keys = (0..<12).map { _ in Certificate.PrivateKey(P256.Signing.PrivateKey()) }
        let wanted = Certificate.PrivateKey(P256.Signing.PrivateKey()).publicKey
        // Twelve keys under one name, each certified by each: 144 edges, none of which leads anywhere.
        let all = try keys.prefix(5).flatMap { signer in
            let parent = try TestCertificate.authority("Issuer", key: signer)
            return try keys.map { key in
                try TestCertificate.authority("Issuer", by: parent, key: key) { $0.authorityKey = wanted }
            }
        }
        let leaf = try TestCertificate.server(by: try TestCertificate.authority("Issuer", key: keys[0]))
        let outcome = try await validate([leaf] + all, roots: [try TestCertificate.authority("Root")])
        #expect(all.count == 60)
        #expect(outcome.refusal?.reason == .overBudget)
        #expect(outcome.work.signatureChecks <= PathLimits.standard.signatureChecks + 1)
    }

    @Test("65 presented certificates are over budget; copies of one do not count")
    func of65PresentedCertificatesAreOverBudgetCopiesOfOneDoNotCount() async throws {
        let root = try TestCertificate.authority("Root")
        let leaf = try TestCertificate.server(by: root)
        let others = try (1...64).map { try TestCertificate.authority("Other \($0)") }
        #expect(try await validate([leaf] + others, roots: [root]).refusal?.reason == .overBudget)
        #expect(try await validate([leaf] + others.dropLast(), roots: [root]).path != nil)
        let copies = [TestCertificate](repeating: others[0], count: 500)
        #expect(try await validate([leaf] + copies, roots: [root]).path != nil)
    }

    @Test("a path of ten is the longest; a CA at the eleventh place is not reached", arguments: [8, 9])
    func pathOfTenIsTheLongestACAAtTheEleventhPlaceIsNotReached(intermediates count: Int) async throws {
        var chain = [try TestCertificate.authority("Root")]
        for index in 0..<count { chain.append(try TestCertificate.authority("CA \(index)", by: chain[index])) }
        let leaf = try TestCertificate.server(by: chain[count])
        let outcome = try await validate([leaf] + chain.dropFirst(), roots: [chain[0]])
        if count == 8 { #expect(outcome.path?.count == 10) } else { #expect(outcome.refusal?.reason == .chainInvalid) }
    }

    @Test("two CAs that certify each other do not send the search in circles")
    func twoCAsThatCertifyEachOtherDoNotSendTheSearchInCircles() async throws {
        let keys = (0..<2).map { _ in Certificate.PrivateKey(P256.Signing.PrivateKey()) }
        let selfSigned = try (0..<2).map { try TestCertificate.authority("CA \($0)", key: keys[$0]) }
        let crossed = try (0..<2).map {
            try TestCertificate.authority("CA \($0)", by: selfSigned[1 - $0], key: keys[$0])
        }
        let leaf = try TestCertificate.server(by: selfSigned[0])
        let outcome = try await validate([leaf] + crossed, roots: [try TestCertificate.authority("Root")])
        #expect(outcome.refusal?.reason == .chainInvalid)
        #expect(outcome.work.candidateSteps < 10)
    }

    @Test("thousands of names against thousands of constraints end over budget before they are compared")
    func thousandsOfNamesAgainstThousandsOfConstraintsEndOverBudgetBeforeTheyAre() async throws {
        let root = try TestCertificate.authority("Root")
        let issuer = try TestCertificate.authority("Issuer", by: root) { form in
            form.constraints = NameConstraints(excludedSubtrees: (0..<1_500).map { .dnsName("n\($0).example") })
        }
        let leaf = try TestCertificate.server(by: issuer) { form in
            form.names += (0..<1_500).map { .dnsName("m\($0).example") }
        }
        let outcome = try await validate([leaf, issuer], roots: [root])
        #expect(outcome.refusal?.reason == .overBudget)
        #expect(outcome.work.nameComparisons > PathLimits.standard.nameComparisons)
    }

    /// A leaf with so many directory names, under a CA that excludes as many others: five steps are the same in all.
    private func directories(_ count: Int) throws -> (chain: [TestCertificate], root: TestCertificate) {
        func name(_ text: String) throws -> GeneralName {
            .directoryName(
                try DistinguishedName {
                    for _ in 0..<5 { OrganizationalUnitName("a") }
                    CommonName(text)
                })
        }
        let root = try TestCertificate.authority("Root")
        let issuer = try TestCertificate.authority("Issuer", by: root) { form in
            form.constraints = NameConstraints(excludedSubtrees: (0..<count).compactMap { try? name("x\($0)") })
        }
        let leaf = try TestCertificate.server(by: issuer) { form in
            form.names += (0..<count).compactMap { try? name("y\($0)") }
        }
        return ([leaf, issuer], root)
    }

    @Test("490 directory names against 490 excluded subtrees: each part is read once, and its number compared")
    func of490DirectoryNamesAgainst490ExcludedSubtreesEachPartIsReadOnce() async throws {
        let (chain, root) = try self.directories(490)
        let outcome = try await validate(chain, roots: [root])
        #expect(outcome.path?.count == 3)
        // Six steps for each pair, and one for the pair.
        #expect((490 * 490 * 6...490 * 490 * 8).contains(outcome.work.nameComparisons))
    }

    @Test("more of them are over budget, by what is compared and not by pairs")
    func moreOfThemAreOverBudgetByWhatIsComparedAndNotByPairs() async throws {
        let (chain, root) = try self.directories(700)
        let outcome = try await validate(chain, roots: [root])
        #expect(outcome.refusal?.reason == .overBudget)
    }

    @Test("the deadline is looked at while names are compared")
    func deadlineIsLookedAtWhileNamesAreCompared() async throws {
        let (chain, root) = try self.directories(100)
        let ticks = Ticks()
        let validator = PathValidator(
            roots: RootStore(certificates: [root.der]), monotonicNanoseconds: { ticks.next(step: 20_000_000) })
        let outcome = await validator.validate(
            presented: chain.map(\.der), as: .uncheckedName, at: Timestamp(secondsSince1970: TestCertificate.time))
        #expect(outcome.refusal?.reason == .overBudget)
        #expect(outcome.refusal?.detail == "more than 1000 ms")
        #expect(outcome.work.nameComparisons < 100 * 100 * 6)
    }

    @Test("thousands of policies are over budget, and cost what they are long")
    func thousandsOfPoliciesAreOverBudgetAndCostWhatTheyAreLong() async throws {
        func named(_ count: Int) -> [Certificate.Extension] {
            [PolicyExtension.policies((0..<count).map { PolicyExtension.policy(UInt16($0)) })]
        }
        let root = try TestCertificate.authority("Root")
        let issuer = try TestCertificate.authority("Issuer", by: root) { $0.others = named(2_000) }
        let leaf = try TestCertificate.server(by: issuer) { $0.others = named(2_000) }
        let outcome = try await validate([leaf, issuer], roots: [root])
        #expect(outcome.path != nil)
        #expect(outcome.work.policySteps == 6_000)
        let longer = try TestCertificate.server(by: issuer) { $0.others = named(4_000) }
        let refused = try await validate([longer, issuer], roots: [root], limits: self.limits(policySteps: 7_000))
        #expect(refused.refusal?.reason == .overBudget)
    }

    private func limits(policySteps: Int) -> PathLimits {
        var limits = PathLimits.standard
        limits.policySteps = policySteps
        return limits
    }

    @Test("what the counts did not foresee ends at the deadline")
    func whatTheCountsDidNotForeseeEndsAtTheDeadline() async throws {
        let root = try TestCertificate.authority("Root")
        let leaf = try TestCertificate.server(by: root)
        let ticks = Ticks()
        let validator = PathValidator(
            roots: RootStore(certificates: [root.der]), monotonicNanoseconds: { ticks.next(step: 600_000_000) })
        let outcome = await validator.validate(
            presented: [leaf.der], as: .host(try HostName("api.example.com")),
            at: Timestamp(secondsSince1970: TestCertificate.time))
        #expect(outcome.refusal?.reason == .overBudget)
        #expect(outcome.refusal?.detail == "more than 1000 ms")
    }
}
#endif
