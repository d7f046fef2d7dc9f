// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RuntimeIntegrity

/// Signatures as two other implementations wrote and read them, and signatures that lie.
@Suite struct CodeSignatureTests {
    private func program(_ bytes: [UInt8]) throws(ImageError) -> SignedProgram {
        try SignedProgram(ExecutableBytes(bytes))
    }

    @Test("every part of every program is read as the other implementations read it")
    func everyPartOfEveryProgramIsReadAsTheOtherImplementationsReadIt() throws {
        let expected = try RecordedPrograms.expected()
        #expect(expected.count == 14)
        for (name, parts) in expected {
            let program = try self.program(RecordedPrograms.bytes(name))
            let read = try program.parts.map { part in
                RecordedPrograms.Part(
                    hash: try part.signature?.directory.hash(RecordedPrograms.sha256).description,
                    identifier: part.signature?.directory.identifier, team: part.signature?.directory.team)
            }
            #expect(read == parts, "\(name)")
        }
    }

    @Test("systems, certificates and entitlements")
    func systemsCertificatesAndEntitlements() throws {
        func part(_ name: String) throws -> SignedProgram.Part {
            try #require(self.program(RecordedPrograms.bytes(name)).parts.last)
        }
        #expect(try part("own-release").platform?.number == 2)
        #expect(try part("own-watch").platform?.number == 4)
        #expect(try part("own-simulator").platform?.isSimulator == true)
        #expect(try part("own-mac").platform?.isMac == true)
        #expect(try part("own-unsigned").signature == nil)
        let signed = try #require(part("rcodesign-debuggable").signature)
        #expect(signed.isByCertificate)
        #expect(signed.entitlements?.applicationIdentifier == "A1B2C3D4E5.com.example.bank")
        #expect(signed.entitlements?.team == "A1B2C3D4E5")
        #expect(signed.entitlements?.letsDebuggersAttach == true)
        #expect(try part("own-release").signature?.entitlements?.letsDebuggersAttach == false)
        #expect(try part("rcodesign-without-certificate").signature?.isByCertificate == false)
        #expect(try part("own-without-certificate").signature?.isByCertificate == false)
        #expect(try part("own-two-hashes").signature?.directory.hashKind == .sha256)
        #expect(try part("own-mac").signature?.entitlements?.team == "A1B2C3D4E5")
    }

    @Test(
        "every number of a signature that lies is refused or read, and none leads out of the file",
        arguments: ["own-two-hashes", "rcodesign-enterprise"])
    func everyNumberOfASignatureThatLiesIsRefusedOrReadAndNoneLeadsOutOfTheFile(_ name: String) throws {
        let file = try RecordedPrograms.bytes(name)
        let values: [UInt32] = [0, 1, 7, 8, 0xFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFF8, 0xFFFF_FFFF]
        var refused = 0
        var tried = 0
        // The header and its commands; then the list of blobs, the CodeDirectories and what follows.
        for place in Array(stride(from: 0, to: 480, by: 4)) + Array(stride(from: 8_208, to: 8_800, by: 4)) {
            for value in values {
                var changed = file
                for byte in 0..<4 { changed[place + byte] = UInt8(truncatingIfNeeded: value >> (24 - byte * 8)) }
                tried += 1
                do throws(ImageError) {
                    for part in try self.program(changed).parts {
                        guard let directory = part.signature?.directory else { continue }
                        #expect(directory.count <= UInt64(file.count))
                        _ = try directory.hash(RecordedPrograms.sha256)
                    }
                } catch { refused += 1 }
            }
        }
        #expect(refused > 100)
        #expect(refused < tried)
    }

    @Test("each offset and length of a signature is held against its bounds")
    func eachOffsetAndLengthOfASignatureIsHeldAgainstItsBounds() throws {
        let file = try RecordedPrograms.bytes("own-release")
        // The place of the signature is what LC_CODE_SIGNATURE says; behind the list of its four parts the CodeDirectory.
        let start = 8_208
        let directory = start + 12 + 4 * 8
        func code(_ place: Int, _ value: UInt32) -> ImageError.Code? {
            var changed = file
            for byte in 0..<4 { changed[place + byte] = UInt8(truncatingIfNeeded: value >> (24 - byte * 8)) }
            do throws(ImageError) {
                _ = try self.program(changed)
                return nil
            } catch { return error.code }
        }
        #expect(code(start, 0xFADE_0CC0) == nil)
        #expect(code(start, 0xFADE_0CC1) == .malformed)
        // The length of the whole, the number of parts.
        #expect(code(start + 4, 0xFFFF_FFFF) == .malformed)
        #expect(code(start + 4, 40) == .truncated)
        #expect(code(start + 8, 65) == .tooLarge)
        #expect(code(start + 8, 0) == .malformed)
        // Where the first part begins: within the list, behind the end, at the last byte that there is.
        for offset: UInt32 in [0, 43, 6_144, 0xFFFF_FFFF] { #expect(code(start + 16, offset) == .malformed) }
        // Two parts of one kind.
        #expect(code(start + 12 + 8, 0) == .malformed)
        // The CodeDirectory: what it begins with, its length, its hashes, its names.
        #expect(code(directory, 0xFADE_0C01) == .malformed)
        for length: UInt32 in [0, 7, 0xFFFF_FFFF] { #expect(code(directory + 4, length) == .malformed) }
        #expect(code(directory + 4, 43) == .truncated)
        for hashes: UInt32 in [0, 43, 0xFFFF_FFFF] { #expect(code(directory + 16, hashes) == .malformed) }
        for name: UInt32 in [0, 43, 6_000, 0xFFFF_FFFF] { #expect(code(directory + 20, name) == .malformed) }
        for count: UInt32 in [200, 0xFFFF_FFFF] {
            #expect(code(directory + 24, count) == .malformed)
            #expect(code(directory + 28, count) == .malformed)
        }
        for team: UInt32 in [1, 6_000, 0xFFFF_FFFF] { #expect(code(directory + 48, team) == .malformed) }
        // Bytes of one hash; how it is made.
        #expect(code(directory + 36, 0x0002_000C) == .malformed)
        #expect(code(directory + 36, 0x2009_000C) == .unsupported)
    }

    @Test("a program that is cut before its last signature is refused")
    func programThatIsCutBeforeItsLastSignatureIsRefused() throws {
        let file = try RecordedPrograms.bytes("rcodesign-mac")
        for length in Array(0..<300) + Array(stride(from: 300, to: file.count * 4 / 5, by: 97)) {
            #expect(throws: ImageError.self, "\(length)") {
                let program = try self.program(Array(file.prefix(length)))
                for part in program.parts { _ = try part.signature?.directory.hash(RecordedPrograms.sha256) }
            }
        }
    }

    @Test("a hash is forty hexadecimal digits and nothing else")
    func hashIsFortyHexadecimalDigitsAndNothingElse() {
        let text = "514a6b97cec532d9b0edb4692995668d841b49f3"
        #expect(CodeDirectoryHash(text)?.description == text)
        #expect(CodeDirectoryHash(text.uppercased()) == CodeDirectoryHash(text))
        for wrong in ["", String(text.dropLast()), text + "0", "g" + text.dropFirst(), "é" + text.dropFirst(2)] {
            #expect(CodeDirectoryHash(wrong) == nil)
        }
    }
}
