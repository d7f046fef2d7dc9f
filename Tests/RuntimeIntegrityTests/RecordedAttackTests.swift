// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RuntimeIntegrity

/// The detectors on what real tools left behind: see `Tests/Tampering/recordings.py`.
@Suite struct RecordedAttackTests {
    static let attached: Set<SignalName> = [
        .knownAgent, .codeWithoutFile, .anonymousCode, .splitCode, .changedCodePages,
    ]

    static let attacks: [(String, Set<SignalName>)] = [
        ("frida17-attach", attached),
        ("frida17-hook-verdict", attached),
        ("frida17-spawn", attached),
        ("frida17-portal", attached.union([.agentConnection])),
        ("frida17-attach-detach", [.splitCode, .changedCodePages]),
        ("frida16-attach", attached.union([.writableCode])),
        ("frida16-hook-verdict", attached.union([.writableCode])),
        ("frida16-spawn", attached.union([.writableCode])),
        ("frida16-portal", attached.union([.writableCode, .agentConnection])),
        ("frida16-attach-detach", [.writableCode, .anonymousCode, .splitCode, .changedCodePages]),
        ("gdb", [.debuggerAttached, .changedCodePages]),
        ("strace", [.debuggerAttached]),
    ]

    @Test("before a connection, what each tool leaves behind is noticed", arguments: Self.attacks)
    func beforeAConnectionWhatEachToolLeavesBehindIsNoticed(_ attack: (String, Set<SignalName>)) throws {
        #expect(Looking(.standard(), .connection, at: try RecordedMachine(attack.0)).names == attack.1)
    }

    @Test(
        "an untouched program gives no signal",
        arguments: ["clean-c", "clean-swift", "clean-python", "container"])
    func untouchedProgramGivesNoSignal(_ name: String) throws {
        let machine = try RecordedMachine(name)
        #expect(machine.regions.count >= 4)
        let looking = Looking(.ofRecordings, at: machine)
        #expect(looking.names.isEmpty)
        #expect(looking.blind.isEmpty)
    }

    @Test(
        "a clock or an allocator that is preloaded is its own signal, of low confidence",
        arguments: ["faketime", "jemalloc"])
    func clockOrAnAllocatorThatIsPreloadedIsItsOwnSignalOfLowConfidence(_ name: String) throws {
        let looking = Looking(at: try RecordedMachine(name))
        #expect(looking.names == [.preloadedLibrary])
        #expect(looking.confidences == [.low])
    }

    @Test("a compiler's executable memory is a signal, unless the app declares it")
    func compilersExecutableMemoryIsASignalUnlessTheAppDeclaresIt() throws {
        let machine = try RecordedMachine("jit")
        #expect(Looking(at: machine).names == [.anonymousCode])
        #expect(Looking(.standard(DeclaredBehaviour(anonymousCodeRegions: 1)), at: machine).names.isEmpty)
    }

    @Test("an agent beside a declared compiler is noticed by its own regions")
    func agentBesideADeclaredCompilerIsNoticedByItsOwnRegions() throws {
        let declared = DeclaredBehaviour(anonymousCodeRegions: 1)
        #expect(Looking(.standard(declared), at: try RecordedMachine("frida17-attach")).names.contains(.anonymousCode))
    }

    @Test(
        "an agent is noticed whichever one question a hook answers with nothing",
        arguments: RecordedMachine.Question.allCases)
    func agentIsNoticedWhicheverOneQuestionAHookAnswersWithNothing(_ question: RecordedMachine.Question) throws {
        for attack in Self.attacks.map(\.0) where attack != "strace" {
            var machine = try RecordedMachine(attack)
            machine.ways[question] = .hooked
            #expect(!Looking(.standard(), .connection, at: machine).names.isEmpty, "\(attack)")
        }
    }

    @Test("an agent is noticed whichever one detector is silenced")
    func agentIsNoticedWhicheverOneDetectorIsSilenced() throws {
        let quick = DetectorSet.standard().detectors.filter { $0.cost == .connection }
        for silent in quick.indices {
            var set = DetectorSet(quick)
            set.detectors.remove(at: silent)
            for attack in Self.attacks.map(\.0) where attack != "strace" {
                #expect(
                    !Looking(set, at: try RecordedMachine(attack)).names.isEmpty, "\(attack), \(quick[silent].name)")
            }
        }
    }

    @Test("what cannot be looked at is said, and is not taken for clean", arguments: RecordedMachine.Question.allCases)
    func whatCannotBeLookedAtIsSaidAndIsNotTakenForClean(_ question: RecordedMachine.Question) throws {
        var machine = try RecordedMachine("clean-swift")
        machine.portAnswers[27_042] = { _ in [] }
        machine.ways[question] = .refused
        let looking = Looking(at: machine)
        #expect(looking.names.isEmpty)
        #expect(!looking.blind.isEmpty)
    }

    @Test("a tracer of the app's own is known by its number, another one is not")
    func tracerOfTheAppsOwnIsKnownByItsNumberAnotherOneIsNot() throws {
        let machine = try RecordedMachine("strace")
        let tracer = try machine.status().tracer
        #expect(tracer > 1)
        let own = StatusDetector(DeclaredBehaviour(tracers: [tracer])).look(at: machine)
        let other = StatusDetector(DeclaredBehaviour(tracers: [tracer + 1])).look(at: machine)
        #expect(own.signals.isEmpty)
        #expect(other.signals.map(\.name) == [.debuggerAttached])
    }

    @Test("more threads than declared is a signal of low confidence, and only where the app declares them")
    func moreThreadsThanDeclaredIsASignalOfLowConfidence() throws {
        let machine = try RecordedMachine("frida17-attach")
        let threads = try #require(try machine.status().threads)
        #expect(threads > 2)
        let signals = StatusDetector(DeclaredBehaviour(maximumThreads: 1)).look(at: machine).signals
        #expect(signals.map(\.name) == [.unknownThreads])
        #expect(signals.map(\.confidence) == [.low])
        #expect(StatusDetector(DeclaredBehaviour(maximumThreads: threads)).look(at: machine).signals.isEmpty)
        #expect(StatusDetector().look(at: machine).signals.isEmpty)
    }
}
