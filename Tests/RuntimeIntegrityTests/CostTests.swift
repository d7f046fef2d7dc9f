// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Foundation
import Testing

@testable import RuntimeIntegrity

extension ThisProcess {
    /// What a look costs, counted and not timed. `make bench` has the times.
    @Suite("What a look costs")
    struct CostTests {
        private static let quick = DetectorSet.standard().detectors.filter { $0.cost == .connection }

        /// How often this thread has read files so far, as the kernel counts it (proc(5), `io`).
        private func reads() throws -> Int {
            let file = open("/proc/thread-self/io", O_RDONLY)
            defer { close(file) }
            var text = [UInt8](repeating: 0, count: 1_024)
            let count = read(file, &text, text.count)
            let line = String(decoding: text.prefix(max(count, 0)), as: UTF8.self).split(separator: "\n")
                .first { $0.hasPrefix("syscr: ") }
            return try #require(line.flatMap { Int($0.dropFirst("syscr: ".count)) })
        }

        @Test("before a connection each thing is asked for once, all functions together, and no file is read")
        func beforeAConnectionEachThingIsAskedForOnceAllFunctionsTogetherAndNoFileIsRead() {
            // Where functions are is looked up once.
            let detectors = Self.quick
            for detector in detectors { _ = detector.look(at: LinuxMachine()) }
            let machine = CountedMachine()
            for detector in detectors { _ = detector.look(at: machine) }
            #expect(machine.counts == ["regions": 1, "pages": 1, "status": 1, "peers": 1, "places": 1])
        }

        @Test("before a connection this process is read at most so often")
        func beforeAConnectionThisProcessIsReadAtMostSoOften() throws {
            let machine = LinuxMachine()
            let detectors = Self.quick
            for detector in detectors { _ = detector.look(at: machine) }
            let before = try self.reads()
            for detector in detectors { _ = detector.look(at: machine) }
            // The status takes two. A kernel before 6.11 gives both lists of mappings a page at a time, and the state of
            // pages besides: 150 with this process's libraries.
            #expect(try self.reads() - before < 300)
        }

        @Test("calls are followed without reading the same tables of the same files again and again")
        func callsAreFollowedWithoutReadingTheSameTablesOfTheSameFilesAgainAndAgain() throws {
            let machine = LinuxMachine()
            let before = try self.reads()
            _ = ImportDetector().look(at: machine)
            // Without pieces that are kept during a look it took 30,000. With them it takes 3,800 to 5,100, and now and then over
            // 6,000: which pieces share a place is as random as where the kernel maps the files.
            #expect(try self.reads() - before < 12_000)
        }

        @Test("calls that were followed once are not followed again while nothing changes")
        func callsThatWereFollowedOnceAreNotFollowedAgainWhileNothingChanges() {
            let detector = ImportDetector()
            // Another test may load a library meanwhile.
            let questions = (0..<10).map { _ in
                let machine = CountedMachine()
                _ = detector.look(at: machine)
                return machine.counts
            }
            #expect(questions.contains { $0["regions"] == 1 && $0["file"] == nil && $0["memory", default: 0] > 0 })
        }

        @Test("what was read of files during a look is given as the files have it")
        func whatWasReadOfFilesDuringALookIsGivenAsTheFilesHaveIt() throws {
            let content = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
            let file = ExecutableBytes(content)
            let pieces = FilePieces()
            for number in 0..<2 {
                for offset in [0, 1, 4_000, 4_095, 4_096, 8_191, 9_990, 9_999, 10_000, 20_000] as [UInt64] {
                    for count in [1, 16, 64, 4_096, 4_097, 10_000] {
                        let read = pieces.bytes(of: number, at: offset, count: count) {
                            file.prefix(at: $0, maximum: $1)
                        }
                        #expect(read == file.prefix(at: offset, maximum: count), "\(offset) \(count)")
                    }
                }
            }
        }

        @Test("a piece that was read once is not asked for again, nor taken for another file's")
        func pieceThatWasReadOnceIsNotAskedForAgainNorTakenForAnotherFiles() {
            let notes = CallNotes()
            let pieces = FilePieces()
            // File 1's first piece has the place of file 0's piece 37.
            for (file, offset) in [(0, 37), (0, 37), (1, 0), (1, 0), (0, 37)] as [(Int, UInt64)] {
                let read = pieces.bytes(of: file, at: offset * 4_096, count: 1) { _, count in
                    notes.note("\(file)")
                    return [UInt8](repeating: UInt8(file), count: count)
                }
                #expect(read == [UInt8(file)])
            }
            #expect(notes.all == ["0", "1", "0"])
        }
    }
}
#endif
