// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import Crypto
import CryptoExtras
import PathValidation
import SwiftASN1
import Testing
import X509

/// What swift-certificates' policies leave out.
@Suite("Certificates that may not stand in their place")
struct CertificateProfileTests {
    private let root: TestCertificate

    init() throws { self.root = try .authority("Root") }

    private func leafRefusal(_ change: (inout TestCertificate.Form) -> Void) async throws -> String? {
        let leaf = try TestCertificate.server(by: self.root, change)
        return try await validate([leaf], roots: [self.root]).refusal?.detail
    }

    private func issuerRefusal(_ change: (inout TestCertificate.Form) -> Void) async throws -> String? {
        let issuer = try TestCertificate.authority("Issuer", by: self.root, change)
        let leaf = try TestCertificate.server(by: issuer)
        return try await validate([leaf, issuer], roots: [self.root]).refusal?.detail
    }

    @Test("a client's certificate does not serve, its purpose critical or not", arguments: [true, false])
    func clientsCertificateDoesNotServeItsPurposeCriticalOrNot(isCritical: Bool) async throws {
        let refusal = try await self.leafRefusal { form in
            form.purposes = [.clientAuth]
            form.purposesAreCritical = isCritical
        }
        #expect(refusal?.contains("extended key usage") == true)
    }

    @Test("a server's purpose may be critical, or absent")
    func serversPurposeMayBeCriticalOrAbsent() async throws {
        #expect(try await self.leafRefusal { $0.purposesAreCritical = true } == nil)
        #expect(try await self.leafRefusal { $0.purposes = nil } == nil)
    }

    @Test("an intermediate for e-mail does not issue servers", arguments: [true, false])
    func intermediateForEMailDoesNotIssueServers(isCritical: Bool) async throws {
        let refusal = try await self.issuerRefusal { form in
            form.purposes = [.emailProtection]
            form.purposesAreCritical = isCritical
        }
        #expect(refusal?.contains("extended key usage") == true)
        #expect(try await self.issuerRefusal { $0.purposes = [.any] } == nil)
    }

    @Test("an issuer without the right to sign certificates")
    func issuerWithoutTheRightToSignCertificates() async throws {
        #expect(try await self.issuerRefusal { $0.keyUsage = KeyUsage(cRLSign: true) }?.contains("key usage") == true)
        #expect(try await self.issuerRefusal { $0.isAuthority = false } != nil)
    }

    @Test("a leaf that may sign certificates and is no CA")
    func leafThatMaySignCertificatesAndIsNoCA() async throws {
        #expect(try await self.leafRefusal { $0.keyUsage = KeyUsage(keyCertSign: true) } != nil)
    }

    @Test("SHA-1 signatures are refused below the anchor, and not looked at on the anchor")
    func sha1SignaturesAreRefusedBelowTheAnchorAndNotLookedAtOnTheAnchor() async throws {
        let key = try Certificate.PrivateKey(_RSA.Signing.PrivateKey(keySize: .bits2048))
        let anchor = try TestCertificate.authority("Old root", key: key) { $0.signature = .sha1WithRSAEncryption }
        let good = try TestCertificate.server(by: anchor)
        #expect(try await validate([good], roots: [anchor]).path != nil)
        let bad = try TestCertificate.server(by: anchor) { $0.signature = .sha1WithRSAEncryption }
        let refusal = try await validate([bad], roots: [anchor]).refusal
        #expect(refusal?.detail.contains("not accepted") == true)
        let issuer = try TestCertificate.authority("Issuer", by: anchor) { $0.signature = .sha1WithRSAEncryption }
        let below = try TestCertificate.server(by: issuer)
        #expect(try await validate([below, issuer], roots: [anchor]).path == nil)
    }

    @Test("an unknown critical extension, on the leaf, an issuer or the anchor")
    func unknownCriticalExtensionOnTheLeafAnIssuerOrTheAnchor() async throws {
        let unknown = Certificate.Extension(oid: [1, 3, 6, 1, 4, 1, 55_738, 1], critical: true, value: [5, 0])
        #expect(try await self.leafRefusal { $0.others = [unknown] }?.contains("critical extension") == true)
        #expect(try await self.issuerRefusal { $0.others = [unknown] }?.contains("critical extension") == true)
        let anchor = try TestCertificate.authority("Odd root") { $0.others = [unknown] }
        #expect(try await validate([try .server(by: anchor)], roots: [anchor]).path == nil)
        let harmless = Certificate.Extension(oid: [1, 3, 6, 1, 4, 1, 55_738, 1], critical: false, value: [5, 0])
        #expect(try await self.leafRefusal { $0.others = [harmless] } == nil)
    }

    @Test("malformed names are noticed, also where no name is asked for")
    func malformedNamesAreNoticedAlsoWhereNoNameIsAskedFor() async throws {
        let names = Certificate.Extension(
            oid: .X509ExtensionID.subjectAlternativeName, critical: false, value: Array("api.example.com".utf8)[...])
        let leaf = try TestCertificate("server", by: self.root) { $0.others = [names] }
        for host in [nil, "api.example.com"] {
            let refusal = try await validate([leaf], roots: [self.root], host: host).refusal
            #expect(refusal?.detail == "the server's certificate: an extension cannot be read")
        }
    }

    @Test("version 1, a serial number of zero, and a CA without a name")
    func version1ASerialNumberOfZeroAndACAWithoutAName() async throws {
        #expect(
            try await self.leafRefusal { $0.serialNumber = Certificate.SerialNumber(0) }?.contains("serial") == true)
        let nameless = try TestCertificate.authority("", by: self.root)
        #expect(try await validate([try .server(by: nameless), nameless], roots: [self.root]).path == nil)
    }

    @Test("an anchor of version 1 has no extensions: with name constraints of its own it is no anchor")
    func anchorOfVersion1HasNoExtensionsWithNameConstraintsOfItsOwnItIsNoAnchor() async throws {
        let constraints = NameConstraints(permittedSubtrees: [.dnsName("example.com")])
        func isAccepted(_ isConstrained: Bool, _ change: (inout TestCertificate.Form) -> Void) async throws -> Bool {
            let anchor = try TestCertificate.authority("Old root", change)
            let issuer = try TestCertificate.authority("Issuer", by: anchor) { form in
                if isConstrained { form.constraints = constraints }
            }
            return try await validate([try .server(by: issuer), issuer], roots: [anchor]).path != nil
        }
        let own = try Certificate.Extension(constraints, critical: true)
        let harmless = Certificate.Extension(oid: [1, 3, 6, 1, 4, 1, 55_738, 1], critical: false, value: [5, 0])
        for isConstrained in [false, true] {
            #expect(try await isAccepted(isConstrained) { $0.version = .v1 })
            for odd in [own, harmless] {
                #expect(try await isAccepted(isConstrained) { $0.others = [odd] })
                #expect(
                    try await !isAccepted(isConstrained) { form in
                        form.version = .v1
                        form.others = [odd]
                    })
            }
        }
    }

    @Test("a path length of zero lets one certificate follow, and self-issued ones do not count")
    func pathLengthOfZeroLetsOneCertificateFollowAndSelfIssuedOnesDoNotCount() async throws {
        let first = try TestCertificate.authority("First", by: self.root) { $0.pathLength = 0 }
        let second = try TestCertificate.authority("Second", by: first)
        #expect(try await validate([try .server(by: first), first], roots: [self.root]).path != nil)
        #expect(try await validate([try .server(by: second), second, first], roots: [self.root]).path == nil)
        let selfIssued = try TestCertificate.authority("First", by: first)
        #expect(
            try await validate([try .server(by: selfIssued), selfIssued, first], roots: [self.root]).path?.count == 4)
    }
}
#endif
