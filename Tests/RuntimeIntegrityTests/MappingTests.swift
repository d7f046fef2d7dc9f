// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RuntimeIntegrity

/// Mappings, one rule at a time.
@Suite struct MappingTests {
    private func signals(_ lines: String, _ declared: DeclaredBehaviour = DeclaredBehaviour()) throws -> [TamperSignal]
    {
        var list = ExecutableRegions()
        try Array((lines + "\n").utf8).withUnsafeBytes { try list.read($0) }
        var machine = RecordedMachine()
        machine.regions = list.regions
        return MappingDetector(declared).look(at: machine).signals
    }

    @Test("a library that was updated beneath the process is low, code in a memory file is high")
    func libraryThatWasUpdatedBeneathTheProcessIsLowCodeInAMemoryFileIsHigh() throws {
        let updated = try self.signals("1000-2000 r-xp 00000000 fe:00 7   /usr/lib/libssl.so.3 (deleted)")
        #expect(updated.map(\.name) == [.codeOfDeletedFile])
        #expect(updated.map(\.confidence) == [.low])
        let memory = try self.signals("1000-2000 r-xp 00000000 00:01 7   /memfd:x (deleted)")
        #expect(memory.map(\.name) == [.codeWithoutFile])
        #expect(memory.map(\.confidence) == [.high])
    }

    @Test("a memory file that the app declares is none of an agent's")
    func memoryFileThatTheAppDeclaresIsNoneOfAnAgents() throws {
        let line = "1000-2000 r-xs 00000000 00:01 7   /memfd:doublemapper (deleted)"
        #expect(try self.signals(line, DeclaredBehaviour(memoryFiles: ["doublemapper"])).isEmpty)
        #expect(try self.signals(line, DeclaredBehaviour(memoryFiles: ["double"])).map(\.name) == [.codeWithoutFile])
    }

    @Test("an agent with another name is noticed by what it cannot avoid")
    func agentWithAnotherNameIsNoticedByWhatItCannotAvoid() throws {
        let maps = """
            1000-3000 r-xp 00000000 fe:00 7   /usr/lib/libc.so.6
            3000-4000 r-xp 00002000 fe:00 7   /usr/lib/libc.so.6
            4000-9000 r-xp 00003000 fe:00 7   /usr/lib/libc.so.6
            a000-b000 r-xp 00000000 00:01 9   /memfd:cache (deleted)
            c000-d000 rwxp 00000000 00:00 0
            """
        #expect(try Set(self.signals(maps).map(\.name)) == [.splitCode, .codeWithoutFile, .anonymousCode])
        #expect(
            try self.signals(maps).first { $0.name == .splitCode }?.evidence == "the code of libc.so.6 is in 3 parts")
    }

    @Test("two segments of code of one file that do not continue each other are no slivers")
    func twoSegmentsOfCodeOfOneFileThatDoNotContinueEachOtherAreNoSlivers() throws {
        let maps = """
            1000-3000 r-xp 00000000 fe:00 7   /usr/lib/a.so
            3000-4000 r-xp 00009000 fe:00 7   /usr/lib/a.so
            4000-5000 r-xp 0000a000 fe:00 8   /usr/lib/b.so
            """
        #expect(try self.signals(maps).isEmpty)
    }

    @Test("the system's own mappings are no code without a file")
    func systemsOwnMappingsAreNoCodeWithoutAFile() throws {
        let maps = """
            7f866c78e000-7f866c790000 r-xp 00000000 00:00 0                          [vdso]
            ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
            """
        #expect(try self.signals(maps).isEmpty)
    }

    @Test("anonymous memory with a name that the program gave it is still anonymous")
    func anonymousMemoryWithANameThatTheProgramGaveItIsStillAnonymous() throws {
        let line = "1000-2000 r-xp 00000000 00:00 0   [anon:harmless]"
        #expect(try self.signals(line).map(\.name) == [.anonymousCode])
    }

    @Test(
        "an agent that runs from memory to which the system gives a name is one without a file",
        arguments: [
            "rwxs 00000000 00:01 1027   /dev/zero (deleted)", "r-xs 00000000 00:01 1027   /dev/zero (deleted)",
            "rwxp 00000000 00:06 4   /dev/zero", "r-xp 00000000 00:06 4   /dev/zero",
            "rwxs 00000000 00:01 0   /SYSV00000000 (deleted)", "r-xs 00000000 00:01 7   /SYSV0000002a (deleted)",
            "rwxp 00000000 00:0f 9   /anon_hugepage (deleted)", "r-xs 00000000 00:01 9   [anon_shmem:harmless]",
            "rwxp 00000000 00:00 0   [heap]", "r-xp 00000000 00:00 0   [heap]", "rwxp 00000000 00:00 0   [stack]",
            "rwxp 00000000 00:00 0   [stack:71]",
        ])
    func agentThatRunsFromMemoryToWhichTheSystemGivesANameIsOneWithoutAFile(_ mapping: String) throws {
        let signals = try self.signals("1000-2000 \(mapping)")
        #expect(signals.map(\.name) == [.anonymousCode])
        #expect(TamperPolicy.refusing.decision(for: signals).refuses)
        #expect(try self.signals("1000-2000 \(mapping)", DeclaredBehaviour(anonymousCodeRegions: 1)).isEmpty)
    }

    @Test("a file that is named like memory of the system's is a file")
    func fileThatIsNamedLikeMemoryOfTheSystemsIsAFile() throws {
        let line = "1000-2000 rwxp 00000000 fe:00 7   /opt/dev/zero"
        #expect(try self.signals(line).map(\.name) == [.writableCode])
    }

    @Test("the list is read the same in any pieces in which it comes")
    func listIsReadTheSameInAnyPiecesInWhichItComes() throws {
        let text = Array(
            """
            55e235b0d000-55e235b12000 r-xp 00002000 fe:00 253911                     /usr/bin/a program with spaces
            55e235b12000-55e235b13000 rw-p 00007000 fe:00 253911                     /usr/bin/cat
            7fd9a1565000-7fd9a1567000 r-xp 00000000 00:00 0                          [vdso]
            7fd9a1568000-7fd9a158e000 rwxs 00001000 fe:00 332717                     /memfd:x (deleted)

            """.utf8)
        let expected: [MemoryRegion] = [
            .init(
                start: 0x55E2_35B0_D000, end: 0x55E2_35B1_2000, permissions: [.read, .execute], offset: 0x2000,
                inode: 253_911, path: "/usr/bin/a program with spaces"),
            .init(start: 0x7FD9_A156_5000, end: 0x7FD9_A156_7000, permissions: [.read, .execute], path: "[vdso]"),
            .init(
                start: 0x7FD9_A156_8000, end: 0x7FD9_A158_E000, permissions: [.read, .write, .execute, .shared],
                offset: 0x1000, inode: 332_717, path: "/memfd:x (deleted)"),
        ]
        for size in 1...text.count {
            var list = ExecutableRegions()
            for start in stride(from: 0, to: text.count, by: size) {
                try Array(text[start..<min(start + size, text.count)]).withUnsafeBytes { try list.read($0) }
            }
            #expect(list.regions == expected, "pieces of \(size)")
        }
    }

    @Test(
        "an unknown line is reported, and hides nothing",
        arguments: [
            "", "1000-2000", "1000-2000 r-xp", "2000-1000 r-xp 00000000 fe:00 7 /a", "1000-1000 r-xp 0 fe:00 7 /a",
            "10000000000000000-20000000000000000 r-xp 0 fe:00 7 /a", "1000-2000 r-xp zz fe:00 7 /a",
            "1000-2000 r-xp 0 fe:00 7a /a", "g000-2000 r-xp 0 fe:00 7 /a", "-2000 r-xp 0 fe:00 7 /a",
            "1000-2000 r-xp 0 fe:00 99999999999999999999 /a",
        ])
    func unknownLineIsReportedAndHidesNothing(_ line: String) {
        var list = ExecutableRegions()
        #expect(throws: ObservationError(.malformed, "")) {
            try Array((line + "\n").utf8).withUnsafeBytes { try list.read($0) }
        }
    }

    @Test("a line without an end is not kept for ever")
    func lineWithoutAnEndIsNotKeptForEver() {
        var list = ExecutableRegions()
        let piece = [UInt8](repeating: 0x41, count: 4_096)
        #expect(throws: ObservationError(.malformed, "")) {
            for _ in 0..<3 { try piece.withUnsafeBytes { try list.read($0) } }
        }
    }

    @Test("more executable mappings than are kept are said, not cut off silently")
    func moreExecutableMappingsThanAreKeptAreSaidNotCutOffSilently() throws {
        var list = ExecutableRegions()
        let line = Array("1000-2000 r-xp 00000000 fe:00 7 /a\n".utf8)
        for _ in 0..<ExecutableRegions.maximum { try line.withUnsafeBytes { try list.read($0) } }
        #expect(throws: ObservationError(.tooLarge, "")) { try line.withUnsafeBytes { try list.read($0) } }
    }
}
