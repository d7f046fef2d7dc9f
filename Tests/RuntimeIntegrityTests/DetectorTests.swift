// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RuntimeIntegrity

/// Detectors that look at names, ports and instructions.
@Suite struct DetectorTests {
    private static let switching = Array(
        """
        HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n
        """.utf8)

    private func ports(_ answer: @escaping @Sendable ([UInt8]) -> [UInt8]?) -> DetectorAnswer {
        var machine = RecordedMachine()
        machine.portAnswers[27_042] = answer
        return PortDetector().look(at: machine)
    }

    @Test("a portal answers the upgrade with the right proof")
    func portalAnswersTheUpgradeWithTheRightProof() {
        #expect(
            self.ports { $0.starts(with: Array("GET /ws".utf8)) ? Self.switching : [] }.signals.map(\.name) == [
                .agentPort
            ])
    }

    @Test("an old server rejects D-Bus authentication")
    func oldServerRejectsDBusAuthentication() {
        let rejected = Array("REJECTED EXTERNAL DBUS_COOKIE_SHA1 ANONYMOUS\r\n".utf8)
        #expect(self.ports { $0.first == 0 ? rejected : [] }.signals.map(\.name) == [.agentPort])
    }

    @Test("what only listens at such a port, or speaks another protocol, is no tool's")
    func whatOnlyListensAtSuchAPortOrSpeaksAnotherProtocolIsNoTools() {
        let wrongProof = String(decoding: Self.switching, as: UTF8.self).replacingOccurrences("s3pP", with: "AAAA")
        let answers = ["", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "SSH-2.0-OpenSSH\r\n", wrongProof]
        for answer in answers { #expect(self.ports { _ in Array(answer.utf8) }.signals.isEmpty, "\(answer)") }
        // One that says nothing.
        let silent = self.ports { _ in nil }
        #expect(silent.signals.isEmpty && silent.blindSpots.isEmpty)
    }

    @Test("threads of a known tool are named; those of GNOME's libraries are not its")
    func threadsOfAKnownToolAreNamedThoseOfGNOMEsLibrariesAreNotIts() {
        var machine = RecordedMachine()
        // What GLib 2.64 and newer start with the first pool of threads.
        machine.threads = ["app", "gmain", "gdbus", "pool-spawner", "pool-frobnicate"]
        #expect(ThreadDetector().look(at: machine).signals.isEmpty)
        machine.threads.append("gum-js-loop")
        #expect(ThreadDetector().look(at: machine).signals.map(\.name) == [.agentThread])
    }

    @Test("descriptors of every program are no signal, a pipe of a tool is")
    func descriptorsOfEveryProgramAreNoSignalAPipeOfAToolIs() {
        var machine = RecordedMachine()
        machine.openDescriptors = ["socket:[12]", "anon_inode:[eventfd]", "/srv/frida/notes.txt"].enumerated().map {
            OpenDescriptor(number: Int32($0.offset), target: $0.element)
        }
        #expect(DescriptorDetector().look(at: machine).signals.isEmpty)
        machine.openDescriptors.append(OpenDescriptor(number: 9, target: "/tmp/linjector-17"))
        #expect(DescriptorDetector().look(at: machine).signals.map(\.name) == [.agentDescriptor])
    }

    @Test("a library of a tool is known by its file's name, not by the folder that it lies in")
    func libraryOfAToolIsKnownByItsFilesNameNotByTheFolderThatItLiesIn() {
        var machine = RecordedMachine()
        func region(_ path: String) -> MemoryRegion {
            MemoryRegion(start: 0x1000, end: 0x2000, permissions: [.read, .execute], inode: 7, path: path)
        }
        machine.regions = [region("/srv/frida/app"), region("/usr/lib/libgum.so")]
        #expect(ImageDetector().look(at: machine).signals.isEmpty)
        for name in ["FridaGadget.dylib", "libfrida-gadget.so", "CydiaSubstrate", "SSLKillSwitch2.dylib"] {
            machine.regions = [region("/Library/\(name)")]
            #expect(ImageDetector().look(at: machine).signals.map(\.name) == [.knownAgent])
            #expect(MappingDetector().look(at: machine).signals.map(\.name) == [.knownAgent])
        }
    }

    @Test("an app called Friday is no tool, nor is a program with a tool's name; a library with that name is")
    func appCalledFridayIsNoToolNorIsAProgramWithAToolsName() {
        var machine = RecordedMachine()
        func region(_ path: String) -> MemoryRegion {
            MemoryRegion(start: 0x1000, end: 0x2000, permissions: [.read, .execute], inode: 7, path: path)
        }
        func names() -> [[SignalName]] {
            [ImageDetector() as any TamperDetector, MappingDetector()].map { $0.look(at: machine).signals.map(\.name) }
        }
        for name in ["libfriday.so", "BlackFriday", "TGIFridays.dylib", "Overexposed"] {
            machine.regions = [region("/opt/app/\(name)")]
            #expect(names() == [[], []], "\(name)")
        }
        machine.threads = ["friday-sync"]
        #expect(ThreadDetector().look(at: machine).signals.isEmpty)
        machine.openDescriptors = [OpenDescriptor(number: 3, target: "/srv/black-friday.json")]
        #expect(DescriptorDetector().look(at: machine).signals.isEmpty)

        let program = "/opt/app/SnowboardMaster"
        machine.program = program
        machine.files.links["/proc/self/exe"] = program
        machine.regions = [region(program)]
        #expect(names() == [[], []])
        for agent in ["/opt/app/SnowBoard.dylib", "/opt/app/Friday-frida-agent.so"] {
            machine.regions = [region(program), region(agent)]
            #expect(names() == [[.knownAgent], [.knownAgent]], "\(agent)")
        }
    }

    @Test("each way of preloading is noticed; an unknown library has more weight than a known one")
    func eachWayOfPreloadingIsNoticedAnUnknownLibraryHasMoreWeightThanAKnownOne() {
        func confidence(_ name: String, _ value: String, _ declared: Set<String> = []) -> [Confidence] {
            var machine = RecordedMachine()
            machine.variables = [EnvironmentVariable(name: name, value: value)]
            let detector = PreloadDetector(DeclaredBehaviour(preloadedLibraries: declared))
            return detector.look(at: machine).signals.map(\.confidence)
        }
        for name in ["LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES"] {
            #expect(confidence(name, "/tmp/hook.so") == [.medium])
        }
        #expect(confidence("LD_PRELOAD", "/usr/lib/libjemalloc.so.2") == [.low])
        #expect(confidence("LD_PRELOAD", "/usr/lib/libjemalloc.so.2:/tmp/hook.so") == [.medium])
        #expect(confidence("LD_PRELOAD", "/usr/lib/libjemalloc.so.2 libfaketime.so.1") == [.low])
        #expect(confidence("LD_PRELOAD", "/opt/libours.so", ["libours"]) == [.low])
        #expect(confidence("LD_PRELOAD", "").isEmpty)
        #expect(confidence("LD_LIBRARY_PATH", "/tmp").isEmpty)
    }

    @Test("the system's own list of libraries to preload is a signal when it names one")
    func systemsOwnListOfLibrariesToPreloadIsASignalWhenItNamesOne() {
        var machine = RecordedMachine()
        machine.files.contents["/etc/ld.so.preload"] = Array(" \n".utf8)
        #expect(PreloadDetector().look(at: machine).signals.isEmpty)
        machine.files.contents["/etc/ld.so.preload"] = Array("/usr/lib/libsnoop.so\n".utf8)
        #expect(PreloadDetector().look(at: machine).signals.map(\.name) == [.preloadFile])
    }

    @Test("a parent that is a debugger is named; a shell, a service manager and a script are not")
    func parentThatIsADebuggerIsNamedAShellAServiceManagerAndAScriptAreNot() {
        for (name, isNoticed) in [("gdb", true), ("strace", true), ("sh", false), ("systemd", false), ("gdbus", false)]
        {
            var machine = RecordedMachine()
            machine.parent = name
            #expect(ParentDetector().look(at: machine).signals.isEmpty != isNoticed, "\(name)")
        }
    }

    @Test(
        "a breakpoint is known on both processors, behind the mark of a call's target, too",
        arguments: [
            (Processor.x86, [0xCC, 0x48, 0x89, 0xE5, 0, 0, 0, 0], true),  // int3
            (.x86, [0xCD, 0x03, 0, 0, 0, 0, 0, 0], true),  // int 3, long form
            (.x86, [0xF3, 0x0F, 0x1E, 0xFA, 0xCC, 0, 0, 0], true),  // endbr64; int3
            (.x86, [0x55, 0x48, 0x89, 0xE5, 0xCC, 0, 0, 0], false),  // push; mov; int3 in the middle
            (.x86, [0xF3, 0x0F, 0x1E, 0xFA, 0x55, 0xCC, 0, 0], false),
            (.arm, [0x00, 0x00, 0x20, 0xD4, 0, 0, 0, 0], true),  // brk #0
            (.arm, [0x00, 0x00, 0x3E, 0xD4, 0, 0, 0, 0], true),  // brk #0xf000, lldb's
            (.arm, [0x5F, 0x24, 0x03, 0xD5, 0x00, 0x00, 0x20, 0xD4], true),  // bti c; brk #0
            (.arm, [0xFD, 0x7B, 0xBF, 0xA9, 0x00, 0x00, 0x20, 0xD4], false),  // stp; brk in the middle
            (.arm, [0x00, 0x00, 0x40, 0xD4, 0, 0, 0, 0], false),  // hlt #0
            (.other, [0xCC, 0x00, 0x20, 0xD4, 0, 0, 0, 0], false),
        ] as [(Processor, [UInt8], Bool)])
    func breakpointIsKnownOnBothProcessorsBehindTheMarkOfACallsTargetToo(_ vector: (Processor, [UInt8], Bool)) {
        #expect(vector.0.hasBreakpoint(vector.1) == vector.2)
        #expect(!vector.0.hasBreakpoint([]))
    }

    @Test("a tracer without a number, as Apple's systems show it, is one")
    func tracerWithoutANumberAsApplesSystemsShowItIsOne() {
        var machine = RecordedMachine()
        machine.statusBytes = Array("TracerPid:\t-1\nThreads:\t1\n".utf8)
        #expect(StatusDetector().look(at: machine).signals.map(\.name) == [.debuggerAttached])
        #expect(!StatusDetector(DeclaredBehaviour(tracers: [17])).look(at: machine).signals.isEmpty)
    }

    @Test("what Apple's processes share is no memory without a file")
    func whatApplesProcessesShareIsNoMemoryWithoutAFile() {
        var machine = RecordedMachine()
        machine.regions = [MemoryRegion(start: 0x1000, end: 0x2000, permissions: [.read, .execute], path: "[shared]")]
        #expect(MappingDetector().look(at: machine).signals.isEmpty)
    }

    @Test("a function that is not where it should be is a blind spot")
    func functionThatIsNotWhereItShouldBeIsABlindSpot() {
        let detector = BreakpointDetector([WatchedFunction(name: "callback", address: 0x1000)], processor: .x86)
        let answer = detector.look(at: RecordedMachine())
        #expect(answer.signals.isEmpty)
        #expect(answer.blindSpots == [BlindSpot(detector: "breakpoints", reason: ObservationError(.missing, "code"))])
    }

    @Test(
        "a status without one of its lines, or with one that is no number, is not taken for an untraced process",
        arguments: ["", "Threads:\t1\n", "TracerPid:\t0\n", "TracerPid:\tx\nThreads:\t1\n", "TracerPid\nThreads:\t1\n"])
    func statusWithoutOneOfItsLinesOrWithOneThatIsNoNumber(_ text: String) {
        var machine = RecordedMachine()
        machine.statusBytes = Array(text.utf8)
        #expect(!StatusDetector().look(at: machine).blindSpots.isEmpty)
    }
}

extension String {
    /// Foundation's, without Foundation.
    fileprivate func replacingOccurrences(_ old: String, with new: String) -> String {
        guard let start = self.indices.first(where: { self[$0...].hasPrefix(old) }) else { return self }
        return self[..<start] + new + self[start...].dropFirst(old.count)
    }
}
