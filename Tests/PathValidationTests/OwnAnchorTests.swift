// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import PathValidation
import SwiftASN1
import Testing
import X509

/// A leaf that an operator has put into the root store himself, and what is said of paths that are too long.
@Suite("A server that is its own anchor")
struct OwnAnchorTests {
    private func selfSigned(_ change: (inout TestCertificate.Form) -> Void = { _ in }) throws -> TestCertificate {
        try TestCertificate("server") { form in
            form.names = [.dnsName("api.example.com")]
            form.purposes = [.serverAuth]
            change(&form)
        }
    }

    @Test("a self-signed server that is in the root store is a path of one, CA or not", arguments: [true, false])
    func selfSignedServerThatIsInTheRootStoreIsAPathOfOneCAOrNot(isAuthority: Bool) async throws {
        let server = try self.selfSigned { $0.isAuthority = isAuthority }
        #expect(try await validate([server], roots: [server]).path == [server.der])
        #expect(try await validate([server], roots: [server], host: nil).path == [server.der])
        let another = try self.selfSigned { $0.isAuthority = isAuthority }
        #expect(try await validate([server], roots: [another]).path == nil)
    }

    @Test("so is one that a CA issued, whether or not the CA is there")
    func soIsOneThatACAIssuedWhetherOrNotTheCAIsThere() async throws {
        let root = try TestCertificate.authority("Root")
        let server = try TestCertificate.server(by: root)
        #expect(try await validate([server], roots: [server]).path == [server.der])
        #expect(try await validate([server], roots: [server, root]).path == [server.der])
    }

    @Test("the rest holds for it: name, time, purpose, strength")
    func restHoldsForItNameTimePurposeStrength() async throws {
        let server = try self.selfSigned()
        #expect(try await validate([server], roots: [server], host: "other.example").path == nil)
        #expect(try await validate([server], roots: [server], at: TestCertificate.time + 86_401).path == nil)
        let client = try self.selfSigned { $0.purposes = [.clientAuth] }
        #expect(try await validate([client], roots: [client]).path == nil)
        let nameless = try self.selfSigned { $0.names = [] }
        #expect(try await validate([nameless], roots: [nameless]).path == nil)
    }

    @Test("a certificate that it issued has no path")
    func certificateThatItIssuedHasNoPath() async throws {
        let server = try self.selfSigned()
        let forged = try TestCertificate.server(by: server)
        #expect(try await validate([forged], roots: [server]).path == nil)
        #expect(try await validate([forged, server], roots: [server]).path == nil)
    }

    @Test("a path that breaks a path length constraint is refused with that reason")
    func pathThatBreaksAPathLengthConstraintIsRefusedWithThatReason() async throws {
        let root = try TestCertificate.authority("Root") { $0.pathLength = 0 }
        let issuer = try TestCertificate.authority("Issuer", by: root)
        let refusal = try await validate([try .server(by: issuer), issuer], roots: [root]).refusal
        #expect(refusal?.reason == .chainInvalid)
        #expect(refusal?.detail.contains("path length") == true)
    }

    @Test("names that are the same text in another type of string are other names")
    func namesThatAreTheSameTextInAnotherTypeOfStringAreOtherNames() async throws {
        let root = try TestCertificate.authority("Root")
        let issuer = try TestCertificate.authority("Issuer", by: root)
        let leaf = try TestCertificate.server(by: issuer)
        let name = DERParts.elements(within: DERParts.elements(within: leaf.der)[0])[3]
        // UTF8String becomes PrintableString.
        let other = name.map { $0 == 0x0c ? 0x13 : $0 }
        #expect(other != name)
        let changed = try leaf.reissued(by: issuer, .issuer, other)
        #expect(try await validate([changed, issuer.der], roots: [root.der]).path == nil)
    }
}
#endif
