// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListRepository
import Testing

@Suite("Pins from the files beside a source", .needsOpenSSL)
struct FilePinTests {
    /// A folder with a certificate, its key, its public key and a request for it, and the pin that openssl computes.
    private func withFiles(_ body: (URL, OpenSSL, _ pin: String) async throws -> Void) async throws {
        let openssl = try #require(OpenSSL.installed)
        try await withTemporaryFolder { folder in
            try await openssl.makeCertificate("a", subject: "/CN=a", in: folder)
            try await openssl.run("pkey -in a.key -pubout -out a.pub", in: folder)
            try await openssl.run("req -new -config request.cnf -key a.key -subj /CN=a -out a.csr", in: folder)
            try await openssl.run("x509 -in a.pem -outform DER -out a.der", in: folder)
            try await body(folder, openssl, try await openssl.pin(of: "x509 -in a.pem -pubkey -noout", in: folder))
        }
    }

    private func source(_ pin: String, _ folder: URL) throws(RepositoryError) -> ListSource {
        let text = "name: a\ndomains:\n- domain: x.example\n  pins:\n  - {\(pin)}"
        return try ListSource(Array(text.utf8), file: "tumbler.yaml", files: DiskFiles(in: folder))
    }

    @Test("certificate, key, public key and request give openssl's pin, in PEM and in DER")
    func certificateKeyPublicKeyAndRequestGiveOpensslsPinInPEMAndInDER() async throws {
        try await self.withFiles { folder, _, pin in
            for text in ["cert: a.pem", "cert: a.der", "key: a.key", "publicKey: a.pub", "csr: a.csr"] {
                let known = try self.source("\(text), note: x, position: leaf", folder).domains.first?.pins.first?.known
                #expect(known?.pin.description == pin, "\(text)")
                #expect(known?.note == "x" && known?.position == .leaf)
            }
        }
    }

    @Test("the wrong member names the right one; several in a file, or none, are refused")
    func wrongMemberNamesTheRightOneSeveralInAFileOrNoneAreRefused() async throws {
        try await self.withFiles { folder, openssl, _ in
            func hint(_ pin: String) -> String? {
                do {
                    _ = try self.source(pin, folder)
                    return "read"
                } catch {
                    #expect(error.reason.hasPrefix("tumbler.yaml:5:"), "\(error)")
                    return "\(error.reason) | \(error.hint ?? "")"
                }
            }
            #expect(hint("cert: a.key")?.contains("write key: instead of cert:") == true)
            #expect(hint("key: a.pub")?.contains("write publicKey:") == true)
            #expect(hint("csr: a.pem")?.contains("write cert:") == true)
            try folder.join(["a.pem", "a.pem"], into: "two.pem")
            #expect(hint("cert: two.pem")?.contains("holds 2") == true)
            try folder.write("nothing", as: "none.pem")
            #expect(hint("cert: none.pem")?.contains("neither PEM nor DER") == true)
            try await openssl.run("pkey -in a.key -aes256 -passout pass:secret -out locked.key", in: folder)
            #expect(hint("key: locked.key")?.contains("encrypted") == true)
            #expect(hint("cert: .")?.contains("folder") == true)
        }
    }

    @Test("an included file names files beside itself")
    func includedFileNamesFilesBesideItself() async throws {
        try await self.withFiles { folder, _, pin in
            let team = folder.appendingPathComponent("team")
            try FileManager.default.createDirectory(at: team, withIntermediateDirectories: true)
            try FileManager.default.moveItem(
                at: folder.appendingPathComponent("a.csr"), to: team.appendingPathComponent("b.csr"))
            try team.write("domains: [{domain: x.example, pins: [{csr: b.csr}]}]", as: "pins.yaml")
            let text = Array("name: a\ninclude: [team/pins.yaml]".utf8)
            let source = try ListSource(text, file: "tumbler.yaml", files: DiskFiles(in: folder))
            #expect(source.domains.first?.pins.first?.known.pin.description == pin)
        }
    }
}
