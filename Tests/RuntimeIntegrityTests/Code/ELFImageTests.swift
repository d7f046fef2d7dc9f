// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import RuntimeIntegrity

/// The numbers of the recorded files are what `readelf` prints of them.
@Suite("ELF images are read as other tools read them")
struct ELFImageTests {
    private func slots(_ image: any ExecutableImage) throws -> [ImportSlot] {
        var slots: [ImportSlot] = []
        try image.forEachImportSlot { slot in
            slots.append(slot)
            return true
        }
        return slots
    }

    @Test("segments, name and identifier of the recorded files")
    func segmentsNameAndIdentifierOfTheRecordedFiles() throws {
        let x86 = try RecordedImage.elfX86.image(.x86)
        #expect(x86.architecture == .x86)
        #expect(x86.ownName == "libdoor.so.1")
        #expect(x86.segments.map(\.address) == [0, 0x1700, 0x2830, 0x3980])
        #expect(x86.segments.map(\.memorySize) == [0x6FC, 0x130, 0x7D0, 0x60])
        #expect(x86.segments.map(\.isExecutable) == [false, true, false, false])
        #expect(x86.identifier.prefix(4) == [0xC4, 0x41, 0x21, 0x20])
        let arm64 = try RecordedImage.elfARM64.image(.arm64)
        #expect(arm64.architecture == .arm64)
        // The identifier stands before another note.
        #expect(arm64.identifier.prefix(4) == [0x87, 0xA5, 0xF6, 0x8A])
        #expect(arm64.identifier.count == 20)
    }

    @Test("slots of the recorded files, by name, by resolver, and weak ones")
    func slotsOfTheRecordedFilesByNameByResolverAndWeakOnes() throws {
        let x86 = try self.slots(RecordedImage.elfX86.image(.x86))
        #expect(
            x86.map(\.address) == [
                0x1700, 0x39A0, 0x2968, 0x3990, 0x2970, 0x2960, 0x3998, 0x39D8, 0x39C0, 0x39C8, 0x39D0,
            ])
        #expect(
            x86.map(\.symbol) == [
                "knock", "knock", "bell", "bell", "spare", "table", "table", nil, "knock", "spare", "fast",
            ])
        #expect(x86.filter { $0.kind == .call }.map(\.symbol) == ["knock", "spare", "fast"])
        #expect(x86.filter(\.isWeak).map(\.address) == [0x2970, 0x39C8])
        #expect(x86.filter(\.isVariable).map(\.address) == [0x39A0, 0x3990, 0x3998])
        #expect(x86.filter { $0.addend != 0 }.map(\.address) == [0x3998])
        let arm64 = try self.slots(RecordedImage.elfARM64.image(.arm64))
        #expect(
            arm64.map(\.address) == [
                0x17F8, 0x3B30, 0x2AF8, 0x3B28, 0x2B00, 0x3B20, 0x2B08, 0x3B68, 0x3B50, 0x3B58, 0x3B60,
            ])
        #expect(arm64.map(\.kind).filter { $0 == .resolved }.count == 1)
    }

    @Test("names are found in both kinds of hash tables", arguments: [RecordedImage.elfX86, .elfARM64])
    func namesAreFoundInBothKindsOfHashTables(_ recorded: RecordedImage) throws {
        let image = try ELFImage(ExecutableBytes(recorded.bytes))
        let isX86 = image.architecture == .x86
        #expect((image.hashTable == nil) != isX86)
        #expect((image.oldHashTable == nil) == isX86)
        #expect(image.dynamicSymbols?.count == 14)
        #expect(image.definitions(of: "open_door").map(\.address) == [isX86 ? 0x1730 : 0x1828])
        #expect(image.definitions(of: "fast").map(\.kind) == [.resolver])
        #expect(image.definitions(of: "table").map(\.kind) == [.other])
        for name in ["knock", "inner", "open_doo", "open_door2", ""] { #expect(image.definitions(of: name).isEmpty) }
        #expect(image.functions(named: ["inner", "table"])["inner"]?.map(\.address) == [isX86 ? 0x1710 : 0x1808])
        let addresses: Set<UInt64> = isX86 ? [0x1720, 0x1721, 0x1754] : [0x1827, 0x181F, 0x186F]
        #expect(Set(image.symbols(at: addresses).values.map(\.name)) == ["inner", "open_door"])
    }

    #if os(Linux)
    /// Images of this process that are compared with what `readelf` prints: the program, libc, and one of Swift's.
    private static func systemImages() throws -> [LoadedImage] {
        try OwnImages.all().all.enumerated().filter { index, loaded in
            index == 0 || loaded.path.contains("/libc.so") || loaded.path.contains("libFoundationEssentials")
        }.map(\.element)
    }

    @Test("exported functions stand where readelf says", .enabled(if: Tool.readelf.isHere))
    func exportedFunctionsStandWhereReadelfSays() async throws {
        for loaded in try Self.systemImages() {
            let image = try #require(loaded.image)
            var count = 0
            for line in try await Tool.readelf.output(["-W", "--dyn-syms", loaded.path]).split(separator: "\n") {
                let fields = line.split(separator: " ")
                guard fields.count == 8, ["FUNC", "OBJECT"].contains(fields[3]), !["UND", "ABS"].contains(fields[6]),
                    ["GLOBAL", "WEAK"].contains(fields[4]), let address = UInt64(fields[1], radix: 16),
                    let name = fields[7].split(separator: "@").first
                else { continue }
                // All would take long: every seventh.
                count += 1
                guard count % 7 == 0 else { continue }
                let found = image.definitions(of: String(name))
                #expect(found.contains { $0.address == address }, "\(loaded.path): \(name)")
            }
            #expect(count > 100 || loaded.path.contains("xctest"))
        }
    }

    @Test("slots are the relocations that readelf prints", .enabled(if: Tool.readelf.isHere))
    func slotsAreTheRelocationsThatReadelfPrints() async throws {
        let types: Set<Substring> = [
            "R_X86_64_JUMP_SLOT", "R_X86_64_JUMP_SLO", "R_X86_64_GLOB_DAT", "R_X86_64_64", "R_AARCH64_JUMP_SL",
            "R_AARCH64_JUMP_SLOT", "R_AARCH64_GLOB_DAT", "R_AARCH64_GLOB_DA", "R_AARCH64_ABS64",
        ]
        for loaded in try Self.systemImages() {
            var expected: [String] = []
            for line in try await Tool.readelf.output(["-rW", loaded.path]).split(separator: "\n") {
                let fields = line.split(separator: " ")
                // Without a symbol there is no value before the name.
                guard fields.count == 7, types.contains(fields[2]), let address = UInt64(fields[0], radix: 16),
                    let addend = Int64(fields[6], radix: 16)
                else { continue }
                let name = fields[4].split(separator: "@").first ?? ""
                expected.append("\(address) \(name) \(fields[5] == "-" ? -addend : addend)")
            }
            let image = try #require(loaded.image)
            let found = try self.slots(image).filter { $0.kind != .resolved }
                .map { "\($0.address) \($0.symbol ?? "") \($0.addend)" }
            #expect(found.count > 20)
            #expect(found == expected, "\(loaded.path)")
        }
    }

    @Test("libraries, name and identifier are those that readelf prints", .enabled(if: Tool.readelf.isHere))
    func librariesNameAndIdentifierAreThoseThatReadelfPrints() async throws {
        for loaded in try Self.systemImages() {
            let image = try #require(loaded.image)
            let text = try await Tool.readelf.output(["-W", "-d", "-n", loaded.path])
            func bracketed(_ tag: String) -> [String] {
                text.split(separator: "\n").filter { $0.contains(tag) }.compactMap { line in
                    line.split(separator: "[").last?.split(separator: "]").first.map(String.init)
                }
            }
            #expect(image.libraries == bracketed("(NEEDED)"))
            #expect(image.ownName == bracketed("(SONAME)").first)
            let digits = image.identifier.map { String(Int($0) + 0x100, radix: 16).suffix(2) }.joined()
            #expect(digits.isEmpty || text.contains("Build ID: \(digits)"))
            #expect(digits.isEmpty == !text.contains("Build ID: "))
        }
    }
    #endif
}
