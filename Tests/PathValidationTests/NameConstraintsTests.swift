// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import PathValidation
import SwiftASN1
import Testing
import X509

/// What a constrained CA may certify (RFC 5280, section 4.2.1.10).
@Suite("Name constraints")
struct NameConstraintsTests {
    private func isAccepted(
        _ names: [GeneralName], permitted: [GeneralName] = [], excluded: [GeneralName] = []
    ) async throws -> Bool {
        let root = try TestCertificate.authority("Root")
        let issuer = try TestCertificate.authority("Issuer", by: root) { form in
            form.constraints = NameConstraints(permittedSubtrees: permitted, excludedSubtrees: excluded)
        }
        let leaf = try TestCertificate("server", by: issuer) { $0.names = names }
        return try await validate([leaf, issuer], roots: [root], host: nil).path != nil
    }

    @Test(
        "a permitted name and those that are not",
        arguments: [
            ("a.example.com", "example.com", true), ("example.com", "example.com", true),
            ("A.Example.Com", "example.com", true), ("evilexample.com", "example.com", false),
            ("example.com.evil", "example.com", false), ("a.example.com", ".example.com", true),
            ("example.com", ".example.com", false), ("a_b.example.com", "example.com", true),
            ("a.b_c.example.com", "b_c.example.com", true), ("*.example.com", "example.com", true),
            ("*.example.com", "bar.example.com", false),
            // With a leading dot: malformed, common in private CAs, and all that is below (openssl, webpki).
            ("*.example.com", ".example.com", true), ("*.a.example.com", ".example.com", true),
            ("*.Example.com", ".eXample.com", true), ("*.com", ".example.com", false),
            ("*.example.com", ".bar.example.com", false),
        ])
    func permittedNameAndThoseThatAreNot(name: String, subtree: String, isAccepted: Bool) async throws {
        #expect(try await self.isAccepted([.dnsName(name)], permitted: [.dnsName(subtree)]) == isAccepted)
    }

    @Test(
        "an excluded name, and a wildcard that covers one",
        arguments: [
            ("a.example.com", "example.com", false), ("example.org", "example.com", true),
            ("*.example.com", "bar.example.com", false), ("*.example.com", "a.bar.example.com", true),
            ("*.example.com", "example.com", false), ("*.Example.com", "bar.eXample.com", false),
            ("a.example.com", ".example.com", false), ("example.com", ".example.com", true),
            ("*.example.com", ".example.com", false), ("*.com", ".example.com", true),
            ("*.example.com", ".bar.example.com", true), ("a_b.example.com", "a_b.example.com", false),
        ])
    func excludedNameAndAWildcardThatCoversOne(name: String, subtree: String, isAccepted: Bool) async throws {
        #expect(try await self.isAccepted([.dnsName(name)], excluded: [.dnsName(subtree)]) == isAccepted)
    }

    @Test(
        "a subtree that cannot be understood refuses, permitted or excluded, for any names",
        arguments: [
            .dnsName("example.com."), .dnsName("*.example.com"), .dnsName("example.com\u{0}"), .dnsName(" example.com"),
            .dnsName(""), .dnsName("."), .dnsName("..example.com"), .dnsName("a..example.com"), .dnsName("192.0.2.1"),
            .dnsName("[::1]"), .dnsName("example.com/"),
            .rfc822Name(""), .rfc822Name("@example.com"), .rfc822Name("a@"), .rfc822Name("a@.example.com"),
            .rfc822Name("a b@example.com"), .rfc822Name("a@example.com."), .rfc822Name("example.com\u{0}"),
            .uniformResourceIdentifier(""), .uniformResourceIdentifier("https://example.com"),
            .uniformResourceIdentifier("*.example.com"), .uniformResourceIdentifier("example.com."),
            .directoryName(DistinguishedName()), .directoryName(DistinguishedName([RelativeDistinguishedName()])),
        ] as [GeneralName])
    func subtreeThatCannotBeUnderstoodRefusesPermittedOrExcludedForAnyNames(subtree: GeneralName) async throws {
        for name in [.dnsName("a.example.org"), .rfc822Name("x@example.org")] as [GeneralName] {
            #expect(try await !self.isAccepted([name], excluded: [subtree]))
            #expect(try await !self.isAccepted([name], permitted: [.dnsName("example.org"), subtree]))
        }
        #expect(try await self.isAccepted([.dnsName("a.example.org")], excluded: [.dnsName("example.com")]))
    }

    @Test(
        "an empty sequence of subtrees, or none at all, refuses",
        arguments: [
            [0x30, 2, 0xa0, 0], [0x30, 2, 0xa1, 0], [0x30, 0],
            [0x30, 11, 0xa0, 0, 0xa1, 7, 0x30, 5, 0x82, 3, 0x63, 0x6f, 0x6d],
        ] as [[UInt8]])
    func emptySequenceOfSubtreesOrNoneAtAllRefuses(value: [UInt8]) async throws {
        let constraints = Certificate.Extension(
            oid: .X509ExtensionID.nameConstraints, critical: true, value: value[...])
        for isAnchor in [true, false] {
            let root = try TestCertificate.authority("Root") { if isAnchor { $0.others = [constraints] } }
            let issuer = try TestCertificate.authority("Issuer", by: root) {
                if !isAnchor { $0.others = [constraints] }
            }
            let leaf = try TestCertificate.server(by: issuer)
            let refusal = try await validate([leaf, issuer], roots: [root]).refusal
            #expect(refusal?.detail.contains("malformed") == true)
        }
    }

    @Test(
        "an address is permitted by a range that has it, and by nothing that is no range",
        arguments: [
            ([192, 0, 2, 7], [192, 0, 2, 0, 255, 255, 255, 0], true),
            ([192, 0, 3, 7], [192, 0, 2, 0, 255, 255, 255, 0], false),
            // Not a range: the mask has a hole; an address of another length; no mask.
            ([192, 0, 2, 7], [192, 0, 2, 0, 255, 0, 255, 0], false),
            ([192, 0, 2], [192, 0, 2, 0, 255, 255, 255, 0], false),
            ([192, 0, 2, 7], [192, 0, 2, 7], false),
        ] as [([UInt8], [UInt8], Bool)])
    func addressIsPermittedByARangeThatHasIt(address: [UInt8], range: [UInt8], isAccepted: Bool) async throws {
        let subtree = GeneralName.ipAddress(ASN1OctetString(contentBytes: range[...]))
        let name = GeneralName.ipAddress(ASN1OctetString(contentBytes: address[...]))
        #expect(try await self.isAccepted([name], permitted: [subtree]) == isAccepted)
    }

    @Test(
        "mailboxes, hosts of mailboxes, and identifiers",
        arguments: [
            (.rfc822Name("a@example.com"), .rfc822Name("example.com"), true),
            (.rfc822Name("a@b.example.com"), .rfc822Name("example.com"), false),
            (.rfc822Name("a@b.example.com"), .rfc822Name(".example.com"), true),
            (.rfc822Name("a@example.com"), .rfc822Name("*@example.com"), false),
            (.rfc822Name("*@example.com"), .rfc822Name("*@EXAMPLE.com"), true),
            (.rfc822Name("not a mailbox"), .rfc822Name("example.com"), false),
            (.rfc822Name("a@example.com"), .rfc822Name("a@b@example.com"), false),
            (
                .uniformResourceIdentifier("https://api.example.com:8443/x"),
                .uniformResourceIdentifier(".example.com"), true
            ),
            (
                .uniformResourceIdentifier("https://example.com@evil.org/"), .uniformResourceIdentifier("example.com"),
                false
            ),
            (
                .uniformResourceIdentifier("https://EXAMPLE.com./x"), .uniformResourceIdentifier("example.com"), true
            ),
            (.uniformResourceIdentifier("https://192.0.2.1/"), .uniformResourceIdentifier("192.0.2.1"), false),
            (.uniformResourceIdentifier("urn:x"), .uniformResourceIdentifier("example.com"), false),
        ] as [(GeneralName, GeneralName, Bool)])
    func mailboxesHostsOfMailboxesAndIdentifiers(name: GeneralName, subtree: GeneralName, isAccepted: Bool) async throws
    {
        #expect(try await self.isAccepted([name], permitted: [subtree]) == isAccepted)
    }

    @Test("directory names: the subject counts as one, case and blanks do not")
    func directoryNamesTheSubjectCountsAsOneCaseAndBlanksDoNot() async throws {
        func name(_ parts: [String]) throws -> GeneralName {
            .directoryName(try DistinguishedName { for part in parts { CommonName(part) } })
        }
        #expect(try await self.isAccepted([], permitted: [try name(["server"])]))
        #expect(try await self.isAccepted([], permitted: [try name(["  SERVER "])]))
        #expect(try await !self.isAccepted([], permitted: [try name(["client"])]))
        #expect(try await !self.isAccepted([], excluded: [try name(["Server"])]))
        #expect(try await !self.isAccepted([try name(["client"])], permitted: [try name(["server"])]))
        // The same letter, composed and not, is one letter; steps count in their order and whole.
        #expect(try await !self.isAccepted([try name(["e\u{301}"])], excluded: [try name(["\u{e9}"])]))
        #expect(
            try await self.isAccepted([try name(["a", "b"])], excluded: [try name(["b"]), try name(["a", "b", "c"])]))
        #expect(try await !self.isAccepted([try name(["a", "b"])], excluded: [try name(["a"])]))
    }

    @Test("a kind of name that cannot be evaluated is refused only where a certificate has one")
    func kindOfNameThatCannotBeEvaluatedIsRefusedOnlyWhereACertificateHasOne() async throws {
        let registered = GeneralName.registeredID([1, 2, 3])
        #expect(try await self.isAccepted([.dnsName("a.example")], excluded: [registered]))
        #expect(try await !self.isAccepted([registered], excluded: [registered]))
        #expect(try await !self.isAccepted([registered], permitted: [registered]))
    }

    @Test("constraints bind all certificates below, self-issued ones aside")
    func constraintsBindAllCertificatesBelowSelfIssuedOnesAside() async throws {
        let root = try TestCertificate.authority("Root") { form in
            form.constraints = NameConstraints(permittedSubtrees: [.dnsName("example.com")])
        }
        let selfIssued = try TestCertificate.authority("Root", by: root) { $0.names = [.dnsName("elsewhere.org")] }
        let other = try TestCertificate.authority("Issuer", by: root) { $0.names = [.dnsName("elsewhere.org")] }
        #expect(try await validate([try .server(by: selfIssued), selfIssued], roots: [root]).path?.count == 3)
        #expect(try await validate([try .server(by: other), other], roots: [root]).path == nil)
    }

    @Test("what the other policies refuse is refused on constrained paths as well")
    func whatTheOtherPoliciesRefuseIsRefusedOnConstrainedPathsAsWell() async throws {
        let root = try TestCertificate.authority("Root") { form in
            form.constraints = NameConstraints(permittedSubtrees: [.dnsName("example.com")])
            form.pathLength = 0
        }
        let issuer = try TestCertificate.authority("Issuer", by: root)
        #expect(try await validate([try .server(by: root)], roots: [root]).path != nil)
        #expect(try await validate([try .server(by: issuer), issuer], roots: [root]).path == nil)
        let noAuthority = try TestCertificate("No CA", by: root) { $0.names = [.dnsName("a.example.com")] }
        #expect(try await validate([try .server(by: noAuthority), noAuthority], roots: [root]).path == nil)
        let late = TestCertificate.time + 86_401
        #expect(try await validate([try .server(by: root)], roots: [root], at: late).path == nil)
    }
}
#endif
