// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import Crypto
import PathValidation
import Testing
import X509

/// How many signatures are checked for a path, and that checking fewer changes no answer.
@Suite("Signatures that are checked for a path")
struct SignatureCountTests {
    private let root: TestCertificate
    private let issuer: TestCertificate
    private let leaf: TestCertificate

    init() throws {
        self.root = try .authority("Root")
        self.issuer = try .authority("Issuer", by: self.root)
        self.leaf = try .server(by: self.issuer)
    }

    /// A certificate whose signature is another's: the last byte of it is changed.
    private func damaged(_ certificate: TestCertificate) throws -> [UInt8] {
        var der = certificate.der
        let last = try #require(der.indices.last)
        der[last] ^= 1
        return der
    }

    @Test("each signature of an accepted path is checked once", arguments: 0...4)
    func eachSignatureOfAnAcceptedPathIsCheckedOnce(intermediates count: Int) async throws {
        var chain = [self.root]
        for index in 0..<count { chain.append(try TestCertificate.authority("CA \(index)", by: chain[index])) }
        let leaf = try TestCertificate.server(by: chain[count])
        let outcome = try await validate([leaf] + chain.dropFirst(), roots: [self.root])
        #expect(outcome.path == [leaf.der] + chain.reversed().map(\.der))
        #expect(outcome.work.signatureChecks == count + 1)
        #expect(outcome.work.examinedPaths == 1)
    }

    @Test("and so it is beside a root that is presented as certified by another one")
    func andSoItIsBesideARootThatIsPresentedAsCertifiedByAnotherOne() async throws {
        let old = try TestCertificate.authority("Old root")
        let cross = try TestCertificate.authority("Root", by: old, key: self.root.key)
        for roots in [[self.root], [self.root, old]] {
            let outcome = try await validate([self.leaf, self.issuer, cross], roots: roots)
            #expect(outcome.path == [self.leaf.der, self.issuer.der, self.root.der])
            #expect(outcome.work.signatureChecks == 2)
        }
        let older = try await validate([self.leaf, self.issuer, cross], roots: [old])
        #expect(older.path == [self.leaf.der, self.issuer.der, cross.der, old.der])
        #expect(older.work.signatureChecks == 3)
    }

    @Test("a wrong signature is refused by the name of the missing issuer, at every place of the path")
    func wrongSignatureIsRefusedByTheNameOfTheMissingIssuerAtEveryPlaceOfThePath() async throws {
        let chains = [
            ([try self.damaged(self.leaf), self.issuer.der], "«CN=server» («CN=Issuer»)", 3),
            ([self.leaf.der, try self.damaged(self.issuer)], "«CN=Issuer» («CN=Root»)", 4),
        ]
        for (chain, names, checks) in chains {
            let outcome = try await validate(chain, roots: [self.root.der])
            #expect(outcome.refusal?.reason == .chainInvalid)
            #expect(
                outcome.refusal?.detail
                    == "no path to an anchor: the issuer of \(names) was neither sent by the server "
                    + "nor found in the roots")
            // Two by the verifier, which does not say which of them was wrong; the search goes up to that one.
            #expect(outcome.work.signatureChecks == checks)
            #expect(outcome.work.examinedPaths == 0)
        }
    }

    @Test("a name that is excluded is refused by our own rule, after one check of each signature")
    func nameThatIsExcludedIsRefusedByOurOwnRuleAfterOneCheckOfEachSignature() async throws {
        let issuer = try TestCertificate.authority("Issuer", by: self.root) { form in
            form.constraints = NameConstraints(excludedSubtrees: [.dnsName("example.com")])
        }
        let leaf = try TestCertificate.server(by: issuer)
        let outcome = try await validate([leaf, issuer], roots: [self.root])
        #expect(outcome.refusal?.detail == "CN=server: a name excluded by CN=Issuer")
        #expect(outcome.work.signatureChecks == 2)
        #expect(outcome.work.examinedPaths == 1)
    }

    @Test("names are not held against constraints before the signatures hold")
    func namesAreNotHeldAgainstConstraintsBeforeTheSignaturesHold() async throws {
        let issuer = try TestCertificate.authority("Issuer", by: self.root) { form in
            form.constraints = NameConstraints(excludedSubtrees: (0..<1_500).map { .dnsName("n\($0).example") })
        }
        let leaf = try TestCertificate.server(by: issuer) { form in
            form.names += (0..<1_500).map { .dnsName("m\($0).example") }
        }
        let outcome = try await validate([try self.damaged(leaf), issuer.der], roots: [self.root.der])
        #expect(outcome.refusal?.reason == .chainInvalid)
        #expect(outcome.work.nameComparisons == 0)
    }

    /// Issuers of one name and one subject key identifier: so many with keys of their own.
    private func impostors(_ count: Int, identifiedAs key: Certificate.PublicKey) throws -> [TestCertificate] {
        let identifier = try Certificate.Extension(SubjectKeyIdentifier(hash: key), critical: false)
        return try (0..<count).map { _ in
            try TestCertificate.authority("Issuer", by: self.root) { form in
                form.withKeyIdentifiers = false
                form.others = [identifier]
            }
        }
    }

    @Test("60 impostors with the issuer's name and key identifier cost one check each, and nothing beforehand")
    func of60ImpostorsWithTheIssuersNameAndKeyIdentifierCostOneCheckEach() async throws {
        let impostors = try self.impostors(60, identifiedAs: self.issuer.key.publicKey)
        let found = try await validate([self.leaf] + impostors + [self.issuer], roots: [self.root])
        #expect(found.path == [self.leaf.der, self.issuer.der, self.root.der])
        // 60 that did not sign, the two of the path by the search, and the same two by the verifier.
        #expect(found.work.signatureChecks == 64)
        let none = try await validate([self.leaf] + impostors, roots: [self.root])
        #expect(none.refusal?.reason == .chainInvalid)
        #expect(none.work.signatureChecks == 60)
    }

    @Test("one impostor that stands out costs the checks of its path, and does not hide the issuer")
    func oneImpostorThatStandsOutCostsTheChecksOfItsPathAndDoesNotHideTheIssuer() async throws {
        let issuer = try TestCertificate.authority("Issuer", by: self.root) { $0.withKeyIdentifiers = false }
        let leaf = try TestCertificate.server(by: issuer)
        let impostors = try self.impostors(1, identifiedAs: issuer.key.publicKey)
        let outcome = try await validate([leaf] + impostors + [issuer], roots: [self.root])
        #expect(outcome.path == [leaf.der, issuer.der, self.root.der])
        // Two of the impostor's path, once more the one that is wrong, two by the search, two by the verifier.
        #expect(outcome.work.signatureChecks == 7)
        #expect(outcome.work.examinedPaths == 1)
    }

    @Test("a budget that has no room for a second look is spent by the search alone", arguments: [2, 3, 4])
    func budgetThatHasNoRoomForASecondLookIsSpentByTheSearchAlone(signatures: Int) async throws {
        var limits = PathLimits.standard
        limits.signatureChecks = signatures
        let outcome = try await validate([self.leaf, self.issuer], roots: [self.root], limits: limits)
        if signatures == 4 {
            #expect(outcome.path?.count == 3)
        } else {
            #expect(outcome.refusal?.description == "over-budget: more than \(signatures) signature checks")
        }
        let wrong = try await validate(
            [try self.damaged(self.leaf), self.issuer.der], roots: [self.root.der], limits: limits)
        #expect(wrong.refusal?.reason == .chainInvalid)
    }
}
#endif
