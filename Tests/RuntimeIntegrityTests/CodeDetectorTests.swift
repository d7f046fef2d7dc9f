// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Foundation
import Testing

@testable import RuntimeIntegrity

extension ThisProcess {
    /// Frida's hooks, as they were recorded, on functions of this process's libc.
    @Suite("Code of this process that was changed")
    struct CodeDetectorTests {
        /// Where `open` begins.
        private static func open() throws -> UInt64 {
            let handle = try #require(dlopen(nil, RTLD_NOW))
            let address = try #require(dlsym(handle, "open"))
            return UInt64(UInt(bitPattern: address))
        }

        private static func names(_ detector: any TamperDetector, _ machine: any ObservedMachine) -> [SignalName] {
            detector.look(at: machine).signals.map(\.name)
        }

        @Test("nothing was changed: no signal, and nothing that could not be read")
        func nothingWasChangedNoSignalAndNothingThatCouldNotBeRead() {
            for detector in [CodeDetector(), ImportDetector(), FunctionDetector()] as [any TamperDetector] {
                #expect(Self.names(detector, LinuxMachine()) == [], "\(detector.name)")
            }
            #expect(FunctionDetector().look(at: LinuxMachine()).blindSpots.isEmpty)
        }

        @Test(
            "a jump where open begins, as Frida 17 writes it, and a breakpoint",
            arguments: [[0xE9, 0x43, 0x38, 0x83, 0xFC, 0x66, 0x90], [0xCC]] as [[UInt8]])
        func jumpWhereOpenBeginsAsFrida17WritesItAndABreakpoint(_ jump: [UInt8]) throws {
            var machine = AlteredMachine()
            machine.write(jump, at: try Self.open())
            let signals = FunctionDetector().look(at: machine).signals
            #expect(Set(signals.map(\.name)) == [.hookedFunction])
            #expect(signals.allSatisfy { $0.evidence.hasPrefix("open") })
            #expect(Self.names(CodeDetector(), machine) == [.changedCode])
        }

        @Test("a detector that began before the hook notices it as well")
        func detectorThatBeganBeforeTheHookNoticesItAsWell() throws {
            let detector = FunctionDetector()
            #expect(Self.names(detector, LinuxMachine()) == [])
            var machine = AlteredMachine()
            machine.write([0xE9], at: try Self.open() + 3)
            #expect(Self.names(detector, machine).first == .hookedFunction)
        }

        @Test("a hook that stays is noticed each time; what lies where a library was before it was unloaded is none")
        func hookThatStaysIsNoticedEachTime() throws {
            let detector = FunctionDetector()
            #expect(Self.names(detector, LinuxMachine()) == [])
            var machine = AlteredMachine()
            machine.write([0xE9], at: try Self.open())
            for _ in 0..<3 { #expect(Self.names(detector, machine).contains(.hookedFunction)) }
            let other = FunctionDetector()
            #expect(Self.names(other, LinuxMachine()) == [])
            machine.unloaded = "libc"
            #expect(Self.names(other, machine) == [])
        }

        /// A machine where a call of this program leads to where no library is, and what is called.
        private static func redirecting() throws -> (machine: AlteredMachine, symbol: String) {
            let code = try LoadedCode(LinuxMachine())
            let program = code.images.all[0]
            var slot: ImportSlot?
            try program.image?.forEachImportSlot { one in
                guard one.symbol != nil, !one.isVariable, !one.isWeak else { return true }
                slot = one
                return false
            }
            let found = try #require(slot)
            var machine = AlteredMachine()
            machine.write([0, 0x10, 0, 0, 0, 0, 0, 0], at: found.address &+ program.bias)
            return (machine, found.symbol ?? "?")
        }

        @Test("a call of this program that leads to where no library is")
        func callOfThisProgramThatLeadsToWhereNoLibraryIs() throws {
            let (machine, symbol) = try Self.redirecting()
            let signals = ImportDetector().look(at: machine).signals
            #expect(signals.map(\.name) == [.redirectedCall])
            #expect(signals.first?.evidence.contains(symbol) == true)
        }

        @Test("calls that were evaluated are evaluated again when they lead elsewhere, and when they do no more")
        func callsThatWereEvaluatedAreEvaluatedAgainWhenTheyLeadElsewhereAndWhenTheyDoNoMore() throws {
            let (machine, _) = try Self.redirecting()
            let detector = ImportDetector()
            for _ in 0..<2 {
                for _ in 0..<2 { #expect(Self.names(detector, LinuxMachine()) == []) }
                for _ in 0..<2 { #expect(Self.names(detector, machine) == [.redirectedCall]) }
            }
        }

        @Test("an update of the C library beneath the process redirects no call; the detector says that it is blind")
        func updateOfTheCLibraryBeneathTheProcessRedirectsNoCallTheDetectorSaysThatItIsBlind() throws {
            var machine = AlteredMachine()
            machine.renamed = ("libc.so", "/usr/lib/libc.so.6 (deleted)")
            let answer = ImportDetector().look(at: machine)
            #expect(!answer.signals.contains { $0.name == .redirectedCall })
            #expect(answer.blindSpots.map(\.detector) == ["imports"])
            #expect(TamperPolicy.refusing.decision(for: answer.signals).refuses == false)
            #expect(Self.names(MappingDetector(), machine).contains(.codeOfDeletedFile))
        }

        @Test("calls into a deleted file that no library needs are redirected")
        func callsIntoADeletedFileThatNoLibraryNeedsAreRedirected() {
            var machine = AlteredMachine()
            machine.renamed = ("libc.so", "/tmp/agent.so (deleted)")
            #expect(Self.names(ImportDetector(), machine).contains(.redirectedCall))
        }

        @Test("a program that was replaced beneath its process redirects no call")
        func programThatWasReplacedBeneathItsProcessRedirectsNoCall() throws {
            let program = try #require(try LinuxMachine().linkTarget(of: "/proc/self/exe"))
            var machine = AlteredMachine()
            machine.renamed = (PrintableEvidence.name(ofPath: program), program + " (deleted)")
            let answer = ImportDetector().look(at: machine)
            #expect(!answer.signals.contains { $0.name == .redirectedCall })
            #expect(answer.blindSpots.map(\.detector) == ["imports"])
        }

        @Test("a function that no file has leaves the detector blind, and says so")
        func functionThatNoFileHasLeavesTheDetectorBlindAndSaysSo() {
            let answer = FunctionDetector(["no_such_function"]).look(at: LinuxMachine())
            #expect(answer.signals.isEmpty && answer.blindSpots.map(\.detector) == ["functions"])
        }
    }
}
#endif
