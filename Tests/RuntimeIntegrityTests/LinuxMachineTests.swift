// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Foundation
import Testing

@testable import RuntimeIntegrity

extension ThisProcess {
    /// The real machine: this process, on Linux.
    @Suite struct LinuxMachineTests {
        private let machine = LinuxMachine()

        /// A file of two pages, mapped as code; the tests change it as a hook changes a library.
        private func withMappedCode(_ body: (UnsafeMutableRawPointer, URL) throws -> Void) throws {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("libcode-\(UUID().uuidString).so")
            try Data(repeating: 0xC3, count: 8_192).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let descriptor = open(file.path, O_RDONLY)
            defer { close(descriptor) }
            let code = try #require(mmap(nil, 8_192, PROT_READ | PROT_EXEC, MAP_PRIVATE, descriptor, 0))
            try #require(code != MAP_FAILED)
            defer { munmap(code, 8_192) }
            _ = code.load(as: UInt8.self)
            try body(code, file)
        }

        @Test("the mappings are those of the system's list, which another program reads", arguments: [true, false])
        func mappingsAreThoseOfTheSystemsListWhichAnotherProgramReads(asksQuickly: Bool) async throws {
            let script = """
                import re, sys
                for line in open(f"/proc/{sys.argv[1]}/maps"):
                    words = line.rstrip("\\n").split(None, 5)
                    if "x" in words[1] and words[-1] != "[vsyscall]":
                        print(words[0], words[2], words[4], words[5] if len(words) > 5 else "", sep="|")
                """
            let before = try self.regions(asksQuickly)
            let theirs = try await FinishedProcess.run(
                URL(fileURLWithPath: "/usr/bin/env"), ["python3", "-c", script, "\(getpid())"],
                in: URL(fileURLWithPath: "/"))
            let after = try self.regions(asksQuickly)
            #expect(theirs.status == 0)
            // Other tests may load a library meanwhile.
            let listed = Set(String(decoding: theirs.output, as: UTF8.self).split(separator: "\n").map(String.init))
            #expect(before.intersection(after).count > 5)
            #expect(before.intersection(after).subtracting(listed) == [])
            #expect(listed.subtracting(before.union(after)) == [])
        }

        /// The mappings with code, as the script writes them.
        private func regions(_ asksQuickly: Bool) throws -> Set<String> {
            let regions = try LinuxMachine(asksQuickly: asksQuickly).executableRegions()
            return Set(
                regions.filter { $0.path != "[vsyscall]" }.map { region in
                    let start = String(region.start, radix: 16)
                    let padded = String(repeating: "0", count: max(0, 8 - start.count)) + start
                    let offset = String(region.offset, radix: 16)
                    let place = "\(padded)-\(String(region.end, radix: 16))"
                    let zeros = String(repeating: "0", count: max(0, 8 - offset.count))
                    return "\(place)|\(zeros)\(offset)|\(region.inode)|\(region.path)"
                })
        }

        @Test("this process, which is untouched, gives no signal")
        func thisProcessWhichIsUntouchedGivesNoSignal() {
            // What listens on this machine is not this process's doing.
            let detectors = DetectorSet.standard().detectors.filter { $0.name != "ports" }
            let names = detectors.flatMap { $0.look(at: self.machine).signals.map(\.name) }
            #expect(names.isEmpty, "\(names)")
        }

        @Test(
            "a byte that is written into code is noticed, and still when the old one is back; on older kernels, too",
            arguments: [true, false])
        func byteThatIsWrittenIntoCodeIsNoticedAndStillWhenTheOldOneIsBackOnOlderKernels(asksQuickly: Bool) throws {
            let machine = LinuxMachine(asksQuickly: asksQuickly)
            try self.withMappedCode { (code, file) throws in
                #expect(try machine.changedPages(.everything).isEmpty)
                mprotect(code + 4_096, 4_096, PROT_READ | PROT_WRITE)
                (code + 5_000).storeBytes(of: 0xE9, as: UInt8.self)
                (code + 5_000).storeBytes(of: 0xC3, as: UInt8.self)
                mprotect(code + 4_096, 4_096, PROT_READ | PROT_EXEC)

                let changed = try machine.changedPages(.everything)
                #expect(changed == [ChangedPages(path: file.path, count: 1)])
                #expect(try machine.copiedCode() == changed)
                #expect(CopyDetector().look(at: machine).signals.map(\.name) == [.changedCodePages])
                #expect(PageDetector(.occasional).look(at: machine).signals.map(\.name) == [.changedCodePages])
                #expect(MappingDetector().look(at: machine).signals.map(\.name) == [.splitCode])
            }
        }

        @Test("before a connection, the pages of libraries that are not changed first are not looked at")
        func beforeAConnectionThePagesOfLibrariesThatAreNotChangedFirstAreNotLookedAt() throws {
            try self.withMappedCode { (code, file) throws in
                mprotect(code, 8_192, PROT_READ | PROT_WRITE)
                code.storeBytes(of: 0xE9, as: UInt8.self)
                mprotect(code, 8_192, PROT_READ | PROT_EXEC)
                #expect(try self.machine.changedPages(.perConnection(choice: 0)).isEmpty)
                let beginning = String(file.lastPathComponent.prefix(12))
                let named = PageScope(names: [beginning], pagesOfRegion: 2)
                #expect(try self.machine.changedPages(named).map(\.count) == [1])
                #expect(try self.machine.changedPages(PageScope(names: [beginning], pagesOfRegion: 0)).isEmpty)
                // The first of two pages was changed: which one is looked at is left to chance.
                for (choice, found) in [(0, [1]), (1, []), (2, [1])] {
                    let one = PageScope(names: [beginning], pagesOfRegion: 1, choice: UInt64(choice))
                    #expect(try self.machine.changedPages(one).map(\.count) == found, "\(choice)")
                }
            }
        }

        @Test("memory of this process is read; an address that is not mapped is an answer, and no crash")
        func memoryOfThisProcessIsReadAnAddressThatIsNotMappedIsAnAnswerAndNoCrash() throws {
            let bytes: [UInt8] = [1, 2, 3, 4]
            let read = bytes.withUnsafeBytes { buffer in
                try? self.machine.bytes(at: UInt64(UInt(bitPattern: buffer.baseAddress)), count: 4)
            }
            #expect(read == bytes)
            #expect(throws: ObservationError(.missing, "")) { try self.machine.bytes(at: 16, count: 4) }
            #expect(throws: ObservationError(.missing, "")) { try self.machine.bytes(at: .max, count: 4) }
        }

        @Test("several places of memory are read at once, and one that is not mapped is an answer for all")
        func severalPlacesOfMemoryAreReadAtOnceAndOneThatIsNotMappedIsAnAnswerForAll() throws {
            let bytes: [UInt8] = [1, 2, 3, 4]
            let start = bytes.withUnsafeBytes { UInt64(UInt(bitPattern: $0.baseAddress)) }
            let read = try withExtendedLifetime(bytes) { try self.machine.bytes(at: [start, start + 2], count: 2) }
            #expect(read == [[1, 2], [3, 4]])
            #expect(try self.machine.bytes(at: [], count: 2).isEmpty)
            #expect(throws: ObservationError(.missing, "")) { try self.machine.bytes(at: [start, 16], count: 2) }
            let many = [UInt64](repeating: start, count: ObservationLimits.places + 1)
            #expect(throws: ObservationError(.tooLarge, "")) { try self.machine.bytes(at: many, count: 1) }
        }

        @Test("a breakpoint at the beginning of a function is noticed")
        func breakpointAtTheBeginningOfAFunctionIsNoticed() throws {
            try self.withMappedCode { (code, _) throws in
                let function = WatchedFunction(name: "callback", address: UInt64(UInt(bitPattern: code)))
                let detector = BreakpointDetector([function], processor: .x86)
                #expect(detector.look(at: self.machine).signals.isEmpty)
                mprotect(code, 8_192, PROT_READ | PROT_WRITE)
                code.storeBytes(of: 0xCC, as: UInt8.self)
                mprotect(code, 8_192, PROT_READ | PROT_EXEC)
                #expect(detector.look(at: self.machine).signals.map(\.name) == [.breakpoint])
            }
        }

        @Test("code in a file that is in memory only is noticed")
        func codeInAFileThatIsInMemoryOnlyIsNoticed() throws {
            // Its header is not shown to Swift.
            typealias Create = @convention(c) (UnsafePointer<CChar>, UInt32) -> Int32
            let create = unsafeBitCast(try #require(dlsym(nil, "memfd_create")), to: Create.self)
            let descriptor = create("jit-cache", 0)
            try #require(descriptor >= 0)
            defer { close(descriptor) }
            ftruncate(descriptor, 4_096)
            let code = try #require(mmap(nil, 4_096, PROT_READ | PROT_EXEC, MAP_PRIVATE, descriptor, 0))
            defer { munmap(code, 4_096) }
            #expect(MappingDetector().look(at: self.machine).signals.map(\.name) == [.codeWithoutFile])
            let declared = MappingDetector(DeclaredBehaviour(memoryFiles: ["jit-cache"]))
            #expect(declared.look(at: self.machine).signals.isEmpty)
        }

        @Test("code in memory that processes share is noticed")
        func codeInMemoryThatProcessesShareIsNoticed() throws {
            let code = try #require(mmap(nil, 4_096, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
            try #require(code != MAP_FAILED)
            defer { munmap(code, 4_096) }
            #expect(MappingDetector().look(at: self.machine).signals.map(\.name) == [.anonymousCode])
        }

        @Test("threads, descriptors, the environment and the parent are those of this process")
        func threadsDescriptorsTheEnvironmentAndTheParentAreThoseOfThisProcess() throws {
            let status = try self.machine.status()
            #expect(status.tracer == 0)
            let names = try self.machine.threadNames()
            #expect(names.count >= 1 && names.count <= ObservationLimits.threads)
            let descriptor = open("/dev/null", O_RDONLY)
            defer { close(descriptor) }
            #expect(try self.machine.descriptors().contains(OpenDescriptor(number: descriptor, target: "/dev/null")))
            let path = try #require(ProcessInfo.processInfo.environment["PATH"])
            #expect(try self.machine.environment().contains(EnvironmentVariable(name: "PATH", value: path)))
            let parent = try String(contentsOfFile: "/proc/\(getppid())/comm", encoding: .utf8)
            #expect(try self.machine.parentName().map { $0 + "\n" } == parent)
        }

        @Test("files, links and what is missing are told apart")
        func filesLinksAndWhatIsMissingAreToldApart() throws {
            #expect(try self.machine.exists("/proc/self/maps"))
            #expect(try !self.machine.exists("/nothing/here"))
            #expect(try self.machine.linkTarget(of: "/proc/self") == "\(getpid())")
            #expect(try self.machine.linkTarget(of: "/proc/version") == nil)
            #expect(try self.machine.contents(of: "/nothing/here", atMost: 10) == nil)
            #expect(try self.machine.contents(of: "/proc/self/comm", atMost: 64)?.last == 0x0A)
            #expect(throws: ObservationError(.tooLarge, "")) {
                try self.machine.contents(of: "/proc/self/status", atMost: 10)
            }
            #expect(throws: ObservationError(.unsupported, "")) { try self.machine.canFork() }
        }

        @Test("a connection of this process is seen from its socket; one that only listens is none")
        func connectionOfThisProcessIsSeenFromItsSocketOneThatOnlyListensIsNone() throws {
            let listener = try LoopbackListener()
            defer { listener.end() }
            #expect(try !self.machine.peerPorts().contains(listener.port))
            let client = try listener.connect()
            defer { close(client) }
            #expect(try self.machine.peerPorts().contains(listener.port))
            #expect(
                ConnectionDetector(ports: [listener.port]).look(at: self.machine).signals.map(\.name) == [
                    .agentConnection
                ])
        }

        @Test("a stranger who connects from a tool's port locks no server out of its own connections")
        func strangerWhoConnectsFromAToolsPortLocksNoServerOutOfItsOwnConnections() throws {
            let listener = try LoopbackListener()
            defer { listener.end() }
            let stranger = try listener.connect()
            defer { close(stranger) }
            let accepted = try listener.accepted()
            defer { close(accepted) }
            let chosen = try LoopbackListener.ownPort(of: stranger)
            #expect(ConnectionDetector(ports: [chosen]).look(at: self.machine).signals.isEmpty)
            // The end that connected is still seen.
            #expect(
                ConnectionDetector(ports: [listener.port]).look(at: self.machine).signals.map(\.name) == [
                    .agentConnection
                ])
        }

        @Test("a port that speaks like a portal is one; a web server, a silent one and a closed one are none")
        func portThatSpeaksLikeAPortalIsOneAWebServerASilentOneAndAClosedOneAreNone() throws {
            let silent = try LoopbackListener()
            defer { silent.end() }
            #expect(throws: ObservationError(.late, "")) {
                try self.machine.answer(onLoopbackPort: silent.port, to: [1], atMost: 16, milliseconds: 20)
            }
            let answering = try LoopbackListener(answer: Array("HTTP/1.1 404 Not Found\r\n\r\n".utf8))
            defer { answering.end() }
            let answer = try self.machine.answer(
                onLoopbackPort: answering.port, to: Array("GET / HTTP/1.1\r\n\r\n".utf8), atMost: 12,
                milliseconds: 600_000)
            #expect(answer == Array("HTTP/1.1 404".utf8))
            let closed = silent.port
            silent.end()
            #expect(try self.machine.answer(onLoopbackPort: closed, to: [1], atMost: 16, milliseconds: 600_000) == nil)
        }
    }
}
#endif
