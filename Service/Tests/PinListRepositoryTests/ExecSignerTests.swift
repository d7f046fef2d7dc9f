// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinListRepository
import Testing

@Suite("A program that signs")
struct ExecSignerTests {
    /// The output of a program on standard error.
    ///
    /// `@unchecked Sendable`: because its one variable is read and written under the lock only.
    private final class Complaints: @unchecked Sendable {
        private let lock = NSLock()
        private var lines: [String] = []

        var all: [String] { self.lock.withLock { self.lines } }

        func add(_ line: String) { self.lock.withLock { self.lines.append(line) } }
    }

    private func answer(
        _ command: String, to message: [UInt8] = [1, 2, 3], seconds: Double = 600
    ) async -> (Result<[UInt8], RepositoryError>, complaints: [String]) {
        let complaints = Complaints()
        let signer = ExecSigner(command, maximumSeconds: seconds) { complaints.add($0) }
        do throws(RepositoryError) {
            return (.success(try await signer.signature(over: message)), complaints.all)
        } catch {
            return (.failure(error), complaints.all)
        }
    }

    @Test("gets the bytes to sign and nothing else, and its answer is taken as it is")
    func getsTheBytesToSignAndNothingElseAndItsAnswerIsTakenAsItIs() async throws {
        let message = (0..<1_000).map { UInt8(truncatingIfNeeded: $0) }
        #expect(try await self.answer("cat", to: message).0.get() == message)
        #expect(try await self.answer("printf 'a\\0b\\n'").0.get() == [97, 0, 98, 10])
        // A pipe, which a program may open again.
        #expect(try await self.answer("cat /dev/stdin", to: [7]).0.get() == [7])
    }

    @Test("may leave a long message unread")
    func mayLeaveALongMessageUnread() async throws {
        let message = [UInt8](repeating: 7, count: 4_000_000)
        #expect(try await self.answer("printf ok", to: message).0.get() == Array("ok".utf8))
        let count = try await self.answer("wc -c | tr -d ' \\n'", to: message).0.get()
        #expect(count == Array("4000000".utf8))
    }

    @Test("says why it failed on standard error, which is passed on")
    func saysWhyItFailedOnStandardErrorWhichIsPassedOn() async {
        let (result, complaints) = await self.answer("echo no token >&2; echo at all >&2; exit 3")
        #expect(throws: RepositoryError.self) { try result.get() }
        #expect(complaints == ["no token", "at all"])
        for command in ["exit 1", "kill -9 $$", "true", "/nonexistent/program"] {
            guard case .failure(let error) = await self.answer(command).0 else {
                Issue.record("\(command) was believed")
                continue
            }
            #expect(error.code == .signer)
        }
    }

    @Test(
        "that hangs is ended with all that it started",
        arguments: [
            "sleep 1000", "sleep 1000 & wait", "sleep 1000 & exit 0", "exec >&- 2>&-; sleep 1000", "cat; sleep 1000",
        ])
    func thatHangsIsEndedWithAllThatItStarted(command: String) async throws {
        try await withTemporaryFolder { folder in
            // A process that runs holds the writing end: the pipe hangs up when no process is left.
            let fifo = folder.appendingPathComponent("fifo").path
            try #require(mkfifo(fifo, 0o600) == 0)
            let reader = open(fifo, O_RDONLY | O_NONBLOCK)
            defer { close(reader) }
            var polled = pollfd(fd: reader, events: 0, revents: 0)
            // Longer where a slow machine did not get to the command: its byte is there when it has begun.
            for seconds in [0.5, 4, 32, 256] {
                let (result, _) = await self.answer("exec 9>'\(fifo)'; echo >&9; \(command)", seconds: seconds)
                guard case .failure(let error) = result else {
                    Issue.record("\(command) was believed")
                    return
                }
                #expect(error.code == .signer)
                var byte: UInt8 = 0
                if read(reader, &byte, 1) == 1 { break }
            }
            // Without a process that ever held the other end it would not hang up.
            #expect(poll(&polled, 1, 600_000) == 1, "something of \(command) is left")
            #expect(polled.revents & Int16(POLLHUP) != 0)
        }
    }

    @Test("that never stops talking is ended")
    func thatNeverStopsTalkingIsEnded() async {
        guard case .failure(let error) = await self.answer("yes").0 else {
            Issue.record("endless data was believed")
            return
        }
        #expect(error.code == .signer)
        let (_, complaints) = await self.answer("yes | head -c 4000000 >&2; exit 1")
        #expect((1...16_384).contains(complaints.joined().utf8.count))
    }
}
