// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import Testing

@Suite("PEM, as people have it")
struct PEMBlockTests {
    private static let base64 = Base64.encode(SampleCertificate.der)
    private static let lines = stride(from: 0, to: Self.base64.utf8.count, by: 64).map {
        String(Self.base64.dropFirst($0).prefix(64))
    }
    private static let body = Self.lines.joined(separator: "\n")
    private static let certificate = PEMBlock(label: "CERTIFICATE", bytes: SampleCertificate.der)

    private func blocks(_ text: String) throws -> [PEMBlock] { try PEMBlock.blocks(in: text.utf8) }

    private func wrapped(_ body: String, newline: String = "\n") -> String {
        "-----BEGIN CERTIFICATE-----\(newline)\(body)\(newline)-----END CERTIFICATE-----\(newline)"
    }

    @Test("one block, and the text it writes")
    func oneBlockAndTheTextItWrites() throws {
        let text = self.wrapped(Self.body)
        #expect(try self.blocks(text) == [Self.certificate])
        #expect(Self.certificate.text == text)
    }

    @Test("what openssl writes is read, and what is written openssl reads")
    func whatOpensslWritesIsReadAndWhatIsWrittenOpensslReads() async throws {
        guard let openssl = OpenSSL.installed else { try Test.cancel("there is no openssl on PATH") }
        try await withTemporaryFolder { folder in
            try Data(Self.certificate.text.utf8).write(to: folder.appendingPathComponent("ours.pem"))
            let command = "x509 -in ours.pem -inform PEM -text"
            let printed = try await openssl.run(command.split(separator: " ").map(String.init), in: folder)
            // -text puts the certificate in words before the block.
            #expect(printed.hasPrefix("Certificate:"))
            #expect(try self.blocks(printed) == [Self.certificate])
        }
    }

    @Test("text around the blocks, as `openssl s_client -showcerts` prints it, and the order of the blocks")
    func textAroundTheBlocksAsOpensslSClientShowcertsPrintsItAndTheOrderOfTheBlocks() throws {
        let text = """
            CONNECTED(00000003)
            ---
            Certificate chain
             0 s:CN = api.example.com -----
               -----BEGIN
            \(self.wrapped(Self.body))
             1 s:CN = Example Intermediate
            -----BEGIN PUBLIC KEY-----
            AAEC
            -----END PUBLIC KEY-----
            ---
            Server certificate
            """
        #expect(try self.blocks(text) == [Self.certificate, PEMBlock(label: "PUBLIC KEY", bytes: [0, 1, 2])])
    }

    @Test("either line ending, blanks around lines, empty lines, no last line break, lines of any length")
    func eitherLineEndingBlanksAroundLinesEmptyLinesNoLastLineBreakLinesOfAnyLength() throws {
        let blank = Self.lines.map { "\t \($0) \t" }.joined(separator: "\n \n")
        let shapes = [
            self.wrapped(Self.lines.joined(separator: "\r\n"), newline: "\r\n"),
            self.wrapped(Self.body, newline: "\r\n"),
            self.wrapped(blank),
            "  -----BEGIN CERTIFICATE-----  \n\(Self.body)\n\t-----END CERTIFICATE----- ",
            String(self.wrapped(Self.body).dropLast()),
            self.wrapped(Self.base64),
            self.wrapped(Self.base64.map { String($0) }.joined(separator: "\n")),
            self.wrapped("\n\n\(Self.body)\n\n"),
        ]
        for shape in shapes { #expect(try self.blocks(shape) == [Self.certificate]) }
    }

    @Test(
        "a text without blocks gives none", arguments: ["", "\n", "hello", "-----", "-----BEGIN CERTIFICATE", "AAEC"])
    func textWithoutBlocksGivesNone(text: String) throws {
        #expect(try self.blocks(text) == [])
    }

    @Test("any bytes, any label: what is written is read", arguments: [91] as [UInt64])
    func anyBytesAnyLabelWhatIsWrittenIsRead(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for length in 1..<300 {
            let block = PEMBlock(label: length % 2 == 0 ? "CERTIFICATE" : "X-\(length) Y", bytes: random.bytes(length))
            #expect(try self.blocks("\(length)\n" + block.text + "\n" + block.text) == [block, block])
            #expect(block.text.split(separator: "\n").allSatisfy { $0.utf8.count <= 64 || $0.hasPrefix("-----") })
        }
    }
}
