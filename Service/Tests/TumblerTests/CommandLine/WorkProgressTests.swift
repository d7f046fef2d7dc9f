// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CommandLineInterface
import Foundation
import Synchronization
import Testing

@Suite("Progress of long work")
struct WorkProgressTests {
    /// A terminal, and a clock that the test turns.
    private final class Terminal: Sendable {
        private let seconds = Mutex<UInt64>(100)
        private let texts = Mutex<[String]>([])

        var shown: [String] { self.texts.withLock { $0 } }

        func progress(_ what: String, of total: Int? = nil) -> WorkProgress {
            WorkProgress(
                what, of: total, clock: { self.seconds.withLock { $0 * 1_000_000_000 } },
                show: { text in self.texts.withLock { $0.append(text) } })
        }

        func pass(_ seconds: UInt64) { self.seconds.withLock { $0 += seconds } }
    }

    @Test("nothing is shown of work that takes less than two seconds")
    func nothingIsShownOfWorkThatTakesLessThanTwoSeconds() {
        let terminal = Terminal()
        let progress = terminal.progress("hosts asked", of: 3)
        progress.look()
        terminal.pass(1)
        progress.add(2)
        progress.look()
        progress.end()
        #expect(terminal.shown.isEmpty)
    }

    @Test("one line is written over, and goes away at the end")
    func oneLineIsWrittenOverAndGoesAwayAtTheEnd() {
        let terminal = Terminal()
        let progress = terminal.progress("hosts asked")
        terminal.pass(2)
        progress.look()
        progress.add(1)
        terminal.pass(3)
        progress.look()
        progress.expect(40)
        progress.add(6)
        progress.look()
        progress.end()
        let clear = "\r\u{1B}[K"
        #expect(
            terminal.shown == [
                "\(clear)tumbler: hosts asked, 2 s", "\(clear)tumbler: hosts asked: 1, 5 s",
                "\(clear)tumbler: hosts asked: 7 of 40, 5 s", clear,
            ])
    }

    @Test("a look that comes after the end shows nothing over the result")
    func lookThatComesAfterTheEndShowsNothingOverTheResult() {
        let terminal = Terminal()
        let progress = terminal.progress("copying the database")
        terminal.pass(9)
        progress.end()
        progress.look()
        #expect(terminal.shown.isEmpty)
    }

    @Test("where standard error is taken, the work runs without progress")
    func whereStandardErrorIsTakenTheWorkRunsWithoutProgress() async {
        let isShown = await StandardError.$taker.withValue({ _ in }) {
            await WorkProgress.during("anything") { $0 != nil }
        }
        #expect(!isShown)
    }
}
