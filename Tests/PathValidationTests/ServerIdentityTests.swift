// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
import PathValidation
import SwiftASN1
import Testing
import X509

/// Whose certificate it is (RFC 9525).
@Suite("Server identity")
struct ServerIdentityTests {
    private func isAccepted(_ names: [GeneralName], for host: String, commonName: String = "server") async throws
        -> Bool
    {
        let root = try TestCertificate.authority("Root")
        let leaf = try TestCertificate(commonName, by: root) { form in
            form.names = names
            form.purposes = [.serverAuth]
        }
        return try await validate([leaf], roots: [root], host: host).path != nil
    }

    @Test(
        "names that are the server's",
        arguments: [
            ("api.example.com", "api.example.com"), ("API.Example.COM", "api.example.com"),
            ("api.example.com", "API.EXAMPLE.COM."), ("*.example.com", "api.example.com"),
            ("*.example.com", "xn--bcher-kva.example.com"),
            // Underscores: by the same rules as any other name.
            ("a_b.example.com", "a_b.example.com"), ("A_B.example.com", "a_b.EXAMPLE.com."),
            ("*.example.com", "a_b.example.com"), ("*.c_d.example.com", "a.c_d.example.com"),
            ("*.c_d.example.com", "_a.c_d.example.com"),
        ])
    func namesThatAreTheServers(name: String, host: String) async throws {
        #expect(try await self.isAccepted([.dnsName(name)], for: host))
    }

    @Test(
        "names that are not",
        arguments: [
            ("*.example.com", "example.com"), ("*.example.com", "a.b.example.com"), ("*.com", "example.com"),
            ("*", "localhost"), ("*", "example.com"), ("a*.example.com", "api.example.com"),
            ("*i.example.com", "api.example.com"), ("api.*.com", "api.example.com"), ("*.*.com", "api.example.com"),
            ("example.com", "evilexample.com"), ("example.com", "api.example.com"),
            ("api.example.com", "api.example.com.evil.example"),
            ("api.example.com\u{0}.evil.example", "api.example.com"),
            ("", "api.example.com"), (".example.com", "api.example.com"), ("1.2.3.4", "1.2.3.4"),
            ("*.2.3.4", "1.2.3.4"), ("a-b.example.com", "a_b.example.com"), ("*.c_d.example.com", "c_d.example.com"),
            ("*_b.example.com", "a_b.example.com"), ("*.example.com", "a.c_d.example.com"), ("*.a_b", "x.a_b"),
        ])
    func namesThatAreNot(name: String, host: String) async throws {
        #expect(try await !self.isAccepted([.dnsName(name)], for: host))
    }

    @Test(
        "a wildcard within an A-label is none, for any host; one that is a whole label stands for an A-label, too",
        arguments: [
            ("xn--*.example.com", false), ("xn--bcher-*.example.com", false), ("XN--*.example.com", false),
            ("*xn--bcher-kva.example.com", false), ("xn--bcher-kv*.example.com", false), ("*.example.com", true),
        ])
    func wildcardWithinAnALabelIsNoneForAnyHost(name: String, isAccepted: Bool) async throws {
        #expect(try await self.isAccepted([.dnsName(name)], for: "xn--bcher-kva.example.com") == isAccepted)
        #expect(try await self.isAccepted([.dnsName(name)], for: "xn--bcher-kva.Example.com.") == isAccepted)
    }

    @Test("the common name is never read")
    func commonNameIsNeverRead() async throws {
        #expect(try await !self.isAccepted([], for: "api.example.com", commonName: "api.example.com"))
        #expect(
            try await !self.isAccepted(
                [.rfc822Name("a@example.com")], for: "api.example.com", commonName: "api.example.com"))
    }

    @Test("addresses match by their bytes alone, in IP names")
    func addressesMatchByTheirBytesAloneInIPNames() async throws {
        let four = GeneralName.ipAddress(ASN1OctetString(contentBytes: [192, 0, 2, 1]))
        let six = GeneralName.ipAddress(
            ASN1OctetString(contentBytes: [0x20, 0x01, 0x0d, 0xb8] + [UInt8](repeating: 0, count: 11) + [1]))
        #expect(try await self.isAccepted([four], for: "192.0.2.1"))
        #expect(try await self.isAccepted([four], for: "::ffff:192.0.2.1"))
        #expect(try await self.isAccepted([six], for: "[2001:DB8::1]"))
        #expect(try await !self.isAccepted([four], for: "192.0.2.2"))
        #expect(try await !self.isAccepted([six], for: "2001:db8::2"))
        #expect(try await !self.isAccepted([.ipAddress(ASN1OctetString(contentBytes: [192, 0, 2]))], for: "192.0.2.1"))
    }

    @Test("without a name check, any server's certificate is a path; the rest still holds")
    func withoutANameCheckAnyServersCertificateIsAPathTheRestStillHolds() async throws {
        let root = try TestCertificate.authority("Root")
        let leaf = try TestCertificate.server(by: root)
        #expect(
            try await validate([leaf], roots: [root], host: "other.example").refusal?.detail.contains("another server")
                == true)
        #expect(try await validate([leaf], roots: [root], host: nil).path != nil)
        let expired = try TestCertificate.server(by: root) { $0.notAfter = TestCertificate.time - 1 }
        #expect(try await validate([expired], roots: [root], host: nil).path == nil)
    }
}
#endif
