// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import Crypto
import PathValidation
import Testing
import X509

/// Chains that a server, or an interceptor, presents to be taken for another.
@Suite("Attacks on the path")
struct PathAttackTests {
    private let root: TestCertificate
    private let issuer: TestCertificate
    private let leaf: TestCertificate

    init() throws {
        self.root = try .authority("Root")
        self.issuer = try .authority("Issuer", by: self.root)
        self.leaf = try .server(by: self.issuer)
    }

    private func decision(_ outcome: PathOutcome, pinning certificate: TestCertificate) throws -> PinningDecision {
        let entry = PinnedDomain(
            try HostName("api.example.com"), pins: [KnownPin(try Pin(publicKeyOf: certificate.der))])
        let policy = try PinningPolicy(domains: [entry])
        let time = Timestamp(secondsSince1970: TestCertificate.time)
        switch outcome.result {
        case .success(let path): return policy.validate(path, for: "api.example.com", at: time)
        case .failure(let refusal):
            return policy.refusal(of: "api.example.com", refusal.reason, detail: refusal.detail)
        }
    }

    @Test("a good chain is one path: leaf, issuer, and the anchor that was not presented")
    func goodChainIsOnePathLeafIssuerAndTheAnchorThatWasNotPresented() async throws {
        let outcome = try await validate([self.leaf, self.issuer], roots: [self.root])
        #expect(outcome.path == [self.leaf.der, self.issuer.der, self.root.der])
        for pinned in [self.leaf, self.issuer, self.root] {
            #expect(try self.decision(outcome, pinning: pinned).verdict == .allow)
        }
    }

    @Test("the pinned certificate appended to a foreign chain matches nothing (CVE-2016-2402)")
    func pinnedCertificateAppendedToAForeignChainMatchesNothingCVE20162402() async throws {
        let foreignRoot = try TestCertificate.authority("Foreign root")
        let foreign = try TestCertificate.server(by: foreignRoot)
        let outcome = try await validate(
            [foreign, self.leaf, self.issuer, self.root], roots: [foreignRoot, self.root])
        #expect(outcome.path == [foreign.der, foreignRoot.der])
        for pinned in [self.leaf, self.issuer, self.root] {
            let decision = try self.decision(outcome, pinning: pinned)
            #expect(decision.verdict == .block)
            #expect(decision.reason == .noMatchingPin)
        }
    }

    @Test("the pin of a root that is trusted but not in the path matches nothing")
    func pinOfARootThatIsTrustedButNotInThePathMatchesNothing() async throws {
        let other = try TestCertificate.authority("Other root")
        let outcome = try await validate([self.leaf, self.issuer], roots: [self.root, other])
        #expect(try self.decision(outcome, pinning: other).reason == .noMatchingPin)
    }

    @Test("a chain to a root that is not trusted does not validate, with anything presented beside it")
    func chainToARootThatIsNotTrustedDoesNotValidateWithAnythingPresentedBesideIt() async throws {
        let other = try TestCertificate.authority("Other root")
        let outcome = try await validate([self.leaf, self.issuer, self.root], roots: [other])
        #expect(outcome.refusal?.reason == .chainInvalid)
    }

    @Test("an impostor with the issuer's name and another key signs nothing")
    func impostorWithTheIssuersNameAndAnotherKeySignsNothing() async throws {
        let impostor = try TestCertificate.authority("Issuer", by: self.root)
        let outcome = try await validate([self.leaf, impostor], roots: [self.root])
        #expect(outcome.refusal?.reason == .chainInvalid)
        let withBoth = try await validate([self.leaf, impostor, self.issuer], roots: [self.root])
        #expect(withBoth.path == [self.leaf.der, self.issuer.der, self.root.der])
    }

    @Test("a server's certificate cannot issue another (CVE-2002-0862)")
    func serversCertificateCannotIssueAnotherCVE20020862() async throws {
        let forged = try TestCertificate("forged", by: self.leaf) { $0.names = [.dnsName("api.example.com")] }
        let outcome = try await validate([forged, self.leaf, self.issuer], roots: [self.root])
        #expect(outcome.refusal?.reason == .chainInvalid)
    }

    @Test("what is missing is named, and not a stranger's certificate that expired beside it")
    func whatIsMissingIsNamedAndNotAStrangersCertificateThatExpiredBesideIt() async throws {
        let stranger = try TestCertificate.authority("Stranger") { $0.notAfter = TestCertificate.time - 1 }
        let outcome = try await validate([self.leaf, stranger], roots: [self.root])
        #expect(outcome.refusal?.detail.hasPrefix("no path to an anchor: the issuer of «CN=server»") == true)
        let expired = try TestCertificate.authority("Issuer", by: self.root) { $0.notAfter = TestCertificate.time - 1 }
        let named = try await validate([try .server(by: expired), expired, stranger], roots: [self.root])
        #expect(named.refusal?.detail.hasPrefix("CN=Issuer: expired at") == true)
    }

    @Test("an intermediate that cannot be parsed, beside a good chain, is left out")
    func intermediateThatCannotBeParsedBesideAGoodChainIsLeftOut() async throws {
        let junk: [[UInt8]] = [[], [0x30], [UInt8](repeating: 0x30, count: 5_000), self.issuer.der + [0]]
        let outcome = try await validate([self.leaf.der] + junk + [self.issuer.der], roots: [self.root.der])
        #expect(outcome.path == [self.leaf.der, self.issuer.der, self.root.der])
    }

    @Test("a leaf that cannot be parsed is a refusal")
    func leafThatCannotBeParsedIsARefusal() async throws {
        for junk in [[], [0x30, 0x80], self.leaf.der + [0], Array(self.leaf.der.dropLast())] {
            let outcome = try await validate([junk, self.issuer.der], roots: [self.root.der])
            #expect(outcome.refusal?.reason == .chainInvalid)
        }
    }

    @Test("nothing presented is a refusal of its own")
    func nothingPresentedIsARefusalOfItsOwn() async throws {
        #expect(try await validate([[UInt8]](), roots: [self.root.der]).refusal?.reason == .noCertificates)
    }

    @Test("the rest may come in any order, twice, and with others' certificates among them")
    func restMayComeInAnyOrderTwiceAndWithOthersCertificatesAmongThem() async throws {
        let second = try TestCertificate.authority("Second", by: self.issuer)
        let server = try TestCertificate.server(by: second)
        let stranger = try TestCertificate.authority("Stranger")
        for rest in [
            [self.issuer, second], [second, self.issuer], [stranger, self.issuer, second, second, self.root],
        ] {
            let outcome = try await validate([server] + rest, roots: [self.root])
            #expect(outcome.path == [server.der, second.der, self.issuer.der, self.root.der])
        }
    }

    @Test("a certificate altered in any one byte does not validate")
    func certificateAlteredInAnyOneByteDoesNotValidate() async throws {
        // Every seventh byte: each costs a validation.
        for index in stride(from: 0, to: self.leaf.der.count, by: 7) {
            var altered = self.leaf.der
            altered[index] ^= 0x01
            let outcome = try await validate([altered, self.issuer.der], roots: [self.root.der])
            #expect(outcome.path == nil, "byte \(index)")
        }
    }

    @Test("expired, not yet valid, and an anchor that has expired", arguments: [-86_401, 86_401])
    func expiredNotYetValidAndAnAnchorThatHasExpired(offset: Int64) async throws {
        let outcome = try await validate(
            [self.leaf, self.issuer], roots: [self.root], at: TestCertificate.time + offset)
        #expect(outcome.refusal?.reason == .chainInvalid)
        let shortRoot = try TestCertificate.authority("Short root") { $0.notAfter = TestCertificate.time - 1 }
        let server = try TestCertificate.server(by: shortRoot)
        #expect(try await validate([server], roots: [shortRoot]).refusal?.detail.contains("expired") == true)
    }

    @Test("two anchors with one name and two keys: the one that signed is in the path")
    func twoAnchorsWithOneNameAndTwoKeysTheOneThatSignedIsInThePath() async throws {
        let older = try TestCertificate.authority("Root")
        let outcome = try await validate([self.leaf, self.issuer], roots: [older, self.root])
        #expect(outcome.path?.last == self.root.der)
    }
}
#endif
