// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CommandLineInterface
import Foundation
import Testing

@Suite("Where /proc is not mounted, Swift knows no arguments")
struct MissingArgumentsTests {
    @Test("without even the program's name the answer is that nothing could be decided")
    func withoutEvenTheProgramsNameNothingCouldBeDecided() throws {
        let error = #expect(throws: CommandError.self) { _ = try CommandLineProgram.words([]) }
        #expect(error?.exitCode == .undecided && error?.hint?.contains("/proc") == true)
        #expect(try CommandLineProgram.words(["tumbler"]) == [])
        #expect(try CommandLineProgram.words(["tumbler", "verify"]) == ["verify"])
    }

    /// Whether this machine lets this user cover `/proc` for one command.
    @Sendable private static func canCover() async throws -> Bool {
        let folder = FileManager.default.temporaryDirectory
        let run = try await FinishedProcess.run(
            URL(fileURLWithPath: "/usr/bin/env"), ["sh", "-c", "unshare -rm mount -t tmpfs none /proc"], in: folder)
        return run.status == 0
    }

    @Test(
        "verify in a chroot without /proc does not print help and hold",
        .enabled("this user may cover no /proc: that needs CAP_SYS_ADMIN, here or in a namespace", Self.canCover))
    func verifyInAChrootWithoutProcDoesNotPrintHelpAndHold() async throws {
        try await withTemporaryFolder { folder in
            let line = #"unshare -rm sh -c 'mount -t tmpfs none /proc && exec "$0" "$@"' "$0" verify none.json"#
            let run = try await CommandRun.shell(line, in: folder)
            run.expectError(2, hint: true)
            #expect(run.errors.contains("/proc is not mounted"), "\(run)")
        }
    }
}
