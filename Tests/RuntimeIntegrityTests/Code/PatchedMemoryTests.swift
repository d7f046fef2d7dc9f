// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Foundation
import Testing

@testable import RuntimeIntegrity

extension ThisProcess {
    @Suite("A library of this process, whose code and slots are really written to", .enabled(if: Tool.clang.isHere))
    struct PatchedMemoryTests {
        /// A compiled library that is loaded into this process.
        private struct Library {
            let images: LoadedImages
            let index: Int
            let memory: ExecutableBytes

            var loaded: LoadedImage { self.images.all[self.index] }

            /// Where a function stands in memory.
            func address(of name: String) throws -> UInt64 {
                let functions = try #require(self.loaded.image).functions(named: [name])
                return try #require(functions[name]?.first).address &+ self.loaded.bias
            }

            func compare() throws -> CodeComparisonResult {
                try CodeComparison(
                    of: try #require(self.loaded.image), bias: self.loaded.bias, memory: self.memory
                ).result()
            }

            /// Writes to memory, under any protection, and puts that back.
            func write(_ bytes: [UInt8], at address: UInt64, protection: Int32) throws {
                let size = UInt64(sysconf(Int32(_SC_PAGESIZE)))
                let page = try #require(UnsafeMutableRawPointer(bitPattern: UInt(address.roundedDown(to: size))))
                try #require(mprotect(page, Int(size), PROT_READ | PROT_WRITE) == 0)
                let place = try #require(UnsafeMutableRawPointer(bitPattern: UInt(address)))
                place.copyMemory(from: bytes, byteCount: bytes.count)
                try #require(mprotect(page, Int(size), protection) == 0)
            }
        }

        /// Compiles a library, loads it, and hands it over while it is loaded.
        private func withLibrary(_ flags: [String], _ body: (Library) throws -> Void) async throws {
            try await withTemporaryFolder { folder in
                let source = folder.appendingPathComponent("door.c")
                let file = folder.appendingPathComponent("libdoor\(UUID().uuidString).so")
                let text = """
                    #include <stdio.h>
                    #include <stdlib.h>
                    extern char **environ;
                    char ***where = &environ;
                    int (*print)(const char *) = puts;
                    __attribute__((visibility("hidden"), noinline)) int inner(int x) { return x * 3; }
                    int open_door(int x) { if (x > 1000000) puts("open"); return inner(x) + abs(x); }
                    int close_door(int x) { if (x > 1000000) abort(); return inner(x + 1); }
                    __asm__(".text\\n.globl written\\n.p2align 3\\nwritten: .quad puts\\n.quad inner\\n");
                    """
                try text.write(to: source, atomically: true, encoding: .utf8)
                _ = try await Tool.clang.output(
                    ["-shared", "-fPIC", "-O1", "-fuse-ld=lld"] + flags + ["-o", file.path, source.path], in: folder)
                let handle = try #require(dlopen(file.path, RTLD_NOW | RTLD_LOCAL), "\(String(cString: dlerror()))")
                defer { dlclose(handle) }
                let images = try OwnImages.all()
                let index = try #require(images.all.firstIndex { $0.path == file.path })
                try body(Library(images: images, index: index, memory: try .ownMemory()))
            }
        }

        /// Ways to link: those of a loader that binds at once, later, with packed relocations, and that writes to code.
        static let ways: [[String]] = [
            ["-Wl,-z,now"], ["-Wl,-z,lazy,-z,norelro"], ["-Wl,-z,pack-relative-relocs"], ["-Wl,--hash-style=sysv"],
            ["-Wl,-z,notext"], ["-Wl,--no-rosegment"], ["-s"], ["-Wl,-z,separate-loadable-segments"],
        ]

        @Test("a library is the same as its file, however it was linked", arguments: Self.ways)
        func libraryIsTheSameAsItsFileHoweverItWasLinked(_ flags: [String]) async throws {
            // Only with `notext` may the code hold addresses.
            let flags = flags.contains("-Wl,-z,notext") ? flags : flags + ["-Wl,-z,notext"]
            try await self.withLibrary(flags) { library in
                let result = try library.compare()
                #expect(result.isSame, "\(result)")
                #expect(result.comparedBytes >= 4_096)
                #expect(library.loaded.image?.relocatedCode.map(\.count) == [16])
                let slots = ImportSlots(in: library.images, memory: library.memory)
                let (findings, count) = try slots.findings(ofImage: library.index)
                #expect(findings == [])
                #expect(count >= 5)
            }
        }

        @Test("five bytes that were written over a function are found, and are gone when they are put back")
        func fiveBytesThatWereWrittenOverAFunctionAreFoundAndAreGoneWhenTheyArePutBack() async throws {
            try await self.withLibrary(["-Wl,-z,notext"]) { library in
                let address = try library.address(of: "open_door")
                let before = try #require(library.memory.bytes(at: address, count: 5))
                let check = PrologueCheck(try #require(.own), images: library.images, memory: library.memory)
                #expect(check.finding(at: address) == nil)

                // A jump of 1.5 GiB: there is nothing.
                #if arch(x86_64)
                let jump: [UInt8] = [0xE9, 0, 0, 0, 0x60]
                #else
                let jump: [UInt8] = [0, 0, 0xE0, 0x15, before[4]]
                #endif
                try library.write(jump, at: address, protection: PROT_READ | PROT_EXEC)
                let result = try library.compare()
                #expect(result.differences.map(\.symbol?.name) == ["open_door"])
                #expect(result.differences.first?.inMemory.starts(with: jump.prefix(4)) == true)
                #expect(result.differences.first?.inFile.starts(with: before.prefix(4)) == true)
                #expect(check.finding(at: address)?.kind == .outside)
                // Other functions are as they were.
                #expect(check.finding(at: try library.address(of: "close_door")) == nil)

                try library.write(before, at: address, protection: PROT_READ | PROT_EXEC)
                #expect(try library.compare().isSame)
            }
        }

        @Test("a slot that was written to is found, and named")
        func slotThatWasWrittenToIsFoundAndNamed() async throws {
            try await self.withLibrary(["-Wl,-z,lazy,-z,norelro,-z,notext"]) { library in
                var places: [UInt64] = []
                try library.loaded.image?.forEachImportSlot { slot in
                    if slot.symbol == "puts", slot.kind == .call { places.append(slot.address &+ library.loaded.bias) }
                    return true
                }
                let place = try #require(places.first)
                let page = UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 16)
                defer { page.deallocate() }
                let target = UInt64(UInt(bitPattern: page))
                let bytes = (0..<8).map { UInt8(truncatingIfNeeded: target >> ($0 * 8)) }
                try library.write(bytes, at: place, protection: PROT_READ | PROT_WRITE)
                let slots = ImportSlots(in: library.images, memory: library.memory)
                let findings = try slots.findings(ofImage: library.index).findings
                #expect(findings.map(\.kind) == [.outside])
                #expect(findings.first?.slot.symbol == "puts")
                #expect(findings.first?.target == target)
            }
        }
    }
}
#endif
