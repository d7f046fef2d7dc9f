// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RuntimeIntegrity

/// The system's list of mappings with their pages, as text.
@Suite struct CopiedCodeTests {
    private func read(_ text: String, piece: Int = 7) throws -> [ChangedPages] {
        var code = CopiedCode(pageSize: 4_096)
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: piece) {
            try Array(bytes[start..<min(start + piece, bytes.count)]).withUnsafeBytes { try code.read($0) }
        }
        return code.changed
    }

    @Test("only code of files counts, in any pieces in which the list comes", arguments: [1, 7, 64, 10_000])
    func onlyCodeOfFilesCountsInAnyPiecesInWhichTheListComes(_ piece: Int) throws {
        let text = """
            1000-9000 r-xp 00000000 fe:00 7   /usr/lib/libc.so.6
            Size:                 32 kB
            Anonymous:            12 kB
            AnonHugePages:         4 kB
            VmFlags: rd ex mr mw me
            9000-a000 rw-p 00008000 fe:00 7   /usr/lib/libc.so.6
            Anonymous:             4 kB
            b000-c000 rwxp 00000000 00:00 0
            Anonymous:             4 kB
            c000-d000 r-xs 00000000 fe:00 9   /shared
            Anonymous:             4 kB
            d000-e000 r-xp 00000000 fe:00 8   /usr/bin/app
            Anonymous:             0 kB
            e000-f000 r-xp 00001000 fe:00 8   /usr/bin/app
            Anonymous:             4 kB

            """
        #expect(
            try self.read(text, piece: piece) == [
                ChangedPages(path: "/usr/lib/libc.so.6", count: 3), ChangedPages(path: "/usr/bin/app", count: 1),
            ])
    }

    @Test("less than a page that is no file's is a page that was changed, and not none")
    func lessThanAPageThatIsNoFilesIsAPageThatWasChangedAndNotNone() throws {
        let text = "1000-9000 r-xp 00000000 fe:00 7   /lib/libc.so.6\nAnonymous: 1 kB\n"
        #expect(try self.read(text) == [ChangedPages(path: "/lib/libc.so.6", count: 1)])
    }

    @Test(
        "an unknown line is reported",
        arguments: [
            "1000-2000 r-xp\n", "\n", "1000-2000 r-xp 0 fe:00 7 /a\nAnonymous: x kB\n",
            "1000-2000 r-xp 0 fe:00 7 /a\nAnonymous: 4 MB\n", "1000-2000 r-xp 0 fe:00 7 /a\nAnonymous:\n",
            "1000-2000 r-xp 0 fe:00 7 /a\nAnonymous: 99999999999999999999 kB\n",
            String(repeating: "A", count: 9_000),
        ])
    func unknownLineIsReported(_ text: String) {
        #expect(throws: ObservationError(.malformed, "")) { try self.read(text) }
    }
}
