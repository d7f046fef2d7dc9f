// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

/// A root store that silently lacks a root, or a chain that lacks a certificate, is another one than was given.
@Suite("PEM that is damaged")
struct DamagedPEMTests {
    private static let first = PEMBlock(label: "CERTIFICATE", bytes: Cast.leaf.der)
    private static let second = PEMBlock(label: "CERTIFICATE", bytes: Cast.root.der)
    private static let text = Self.first.text + "between\n" + Self.second.text

    private func blocks(_ text: String) throws -> [PEMBlock] { try PEMBlock.blocks(in: text.utf8) }

    @Test(
        "a block whose inside is not base64 is an error, not a missing certificate",
        arguments: [
            "", "\n", "!!!!", "AAE", "AAEC=", "AAEC====", "AA==\nAAEC", "AB==", "AAEC\n# comment\nAAEC", "AAEC AAEC",
            "AA-_", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nAAEC", "AAEC\n----END CERTIFICATE----",
            "AAEC\0", "ＡＡEC", "-----END CERTIFICATE", "----- END CERTIFICATE-----", "\u{200b}AAEC",
        ])
    func blockWhoseInsideIsNotBase64IsAnErrorNotAMissingCertificate(inside: String) {
        let damaged = "-----BEGIN CERTIFICATE-----\n\(inside)\n-----END CERTIFICATE-----\n"
        for text in [damaged, Self.text + damaged, damaged + Self.text] {
            #expect(throws: InputError(.pem, "")) { try self.blocks(text) }
        }
    }

    @Test("an END line that is missing, of another label, or damaged")
    func endLineThatIsMissingOfAnotherLabelOrDamaged() {
        let begin = "-----BEGIN CERTIFICATE-----\nAAEC\n"
        for end in [
            "", "-----END PUBLIC KEY-----\n", "-----END CERTIFICATE----\n", "----END CERTIFICATE-----\n",
            "-----END CERTIFICATE-----x\n", "-----END  CERTIFICATE-----\n", "-----END CERTIFICATE -----\n",
            "-----END -----\n", "-----end certificate-----\n", "\u{2014}-----END CERTIFICATE-----\n",
        ] {
            #expect(throws: InputError(.pem, ""), "\(end)") { try self.blocks(begin + end) }
            #expect(throws: InputError(.pem, ""), "\(end)") { try self.blocks(begin + end + Self.text) }
        }
    }

    @Test("a block within a block")
    func blockWithinABlock() {
        let inner = "-----BEGIN CERTIFICATE-----\nAAEC\n-----END CERTIFICATE-----\n"
        #expect(throws: InputError(.pem, "")) { try self.blocks("-----BEGIN CERTIFICATE-----\n\(inner)") }
        #expect(throws: InputError(.pem, "")) {
            try self.blocks("-----BEGIN CERTIFICATE-----\n\(inner)-----END CERTIFICATE-----\n")
        }
        #expect(throws: InputError(.pem, "")) { try self.blocks("-----BEGIN X-----\nAAEC\n\(inner)-----END X-----\n") }
    }

    /// The line above the base64 is damaged, so what follows looks like text between blocks, up to an END that closes
    /// nothing.
    @Test(
        "a BEGIN line that is damaged does not make a certificate disappear",
        arguments: [
            "----BEGIN CERTIFICATE-----", "-----BEGIN CERTIFICATE----", "-----BEGIN CERTIFICATE-----x",
            "-----BEGINCERTIFICATE-----", "- ----BEGIN CERTIFICATE-----", "> -----BEGIN CERTIFICATE-----",
            "-----begin certificate-----", "",
        ])
    func beginLineThatIsDamagedDoesNotMakeACertificateDisappear(line: String) {
        let damaged = "\(line)\nAAEC\n-----END CERTIFICATE-----\n"
        #expect(throws: InputError(.pem, "")) { try self.blocks(damaged) }
        #expect(throws: InputError(.pem, "")) { try self.blocks(Self.text + damaged) }
    }

    @Test("a byte order mark, as Windows writes it, does not hide the first block")
    func byteOrderMarkAsWindowsWritesItDoesNotHideTheFirstBlock() throws {
        #expect(try self.blocks("\u{feff}" + Self.text) == [Self.first, Self.second])
        #expect(throws: InputError(.pem, "")) { try self.blocks("\u{feff}\u{feff}" + Self.text) }
    }

    @Test("truncated at every length: an error, or the blocks that were complete, and never a shortened one")
    func truncatedAtEveryLengthAnErrorOrTheBlocksThatWereComplete() throws {
        let bytes = Array(Self.text.utf8)
        let ofFirst = Self.first.text.utf8.count
        #expect(try PEMBlock.blocks(in: bytes) == [Self.first, Self.second])
        var refused = 0
        for length in 0..<bytes.count {
            guard let blocks = try? PEMBlock.blocks(in: bytes[..<length]) else {
                refused += 1
                continue
            }
            // The last line break of a block belongs to it, and may be missing.
            let whole = length >= bytes.count - 1 ? 2 : length >= ofFirst - 1 ? 1 : 0
            #expect(blocks == Array([Self.first, Self.second].prefix(whole)), "length \(length)")
        }
        #expect(refused > bytes.count / 2)
    }

    @Test("every byte changed: an error, or as many blocks as before with the same labels", arguments: [95] as [UInt64])
    func everyByteChangedAnErrorOrAsManyBlocksAsBeforeWithTheSameLabels(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bytes = Array(Self.text.utf8)
        var accepted = 0
        var losing: [Int] = []
        for position in bytes.indices {
            var changed = bytes
            changed[position] ^= UInt8.random(in: 1...255, using: &random)
            guard let blocks = try? PEMBlock.blocks(in: changed) else { continue }
            accepted += 1
            if blocks.map(\.label) != ["CERTIFICATE", "CERTIFICATE"] { losing.append(position) }
        }
        // A change within the base64 or between the blocks may well be read.
        #expect(accepted > 50)
        #expect(losing == [])
    }

    @Test("16 MiB are read and one byte more is not")
    func of16MiBAreReadAndOneByteMoreIsNot() throws {
        let filler = [UInt8](repeating: UInt8(ascii: " "), count: PEMBlock.maximumLength - Self.text.utf8.count - 1)
        let text = Array(Self.text.utf8) + [UInt8(ascii: "\n")] + filler
        #expect(text.count == 16 * 1_048_576)
        #expect(try PEMBlock.blocks(in: text) == [Self.first, Self.second])
        #expect(throws: InputError(.pem, "")) { try PEMBlock.blocks(in: text + [UInt8(ascii: "\n")]) }
    }

    /// In a process of its own, since the peak is of a whole process.
    @Test("four megabytes of line breaks take no more than 64 megabytes")
    func fourMegabytesOfLineBreaksTakeNoMoreThan64Megabytes() async {
        await #expect(processExitsWith: .success) {
            let text = [UInt8](repeating: UInt8(ascii: "\n"), count: 4 * 1_048_576)
            let before = try #require(peakMemory())
            #expect(try PEMBlock.blocks(in: text).isEmpty)
            let after = try #require(peakMemory())
            #expect(after - before < 64 * 1_048_576, "\(after - before) bytes")
        }
    }

    @Test("16,384 blocks are read and one more is not")
    func of16384BlocksAreReadAndOneMoreIsNot() throws {
        let block = "-----BEGIN X-----\nAA==\n-----END X-----\n"
        let maximum = String(repeating: block, count: PEMBlock.maximumCount)
        #expect(try self.blocks(maximum).count == 16_384)
        #expect(throws: InputError(.pem, "")) { try self.blocks(maximum + block) }
    }
}
