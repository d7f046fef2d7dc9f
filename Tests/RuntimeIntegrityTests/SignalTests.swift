// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RuntimeIntegrity

/// Names and texts, which leave the process in reports.
@Suite struct SignalTests {
    @Test("the names are those that collectors know, each once")
    func namesAreThoseThatCollectorsKnowEachOnce() {
        #expect(
            SignalName.all.map(\.description) == [
                "known-agent", "code-without-file", "code-of-deleted-file", "anonymous-code", "preloaded-library",
                "preload-file", "writable-code", "split-code", "changed-code-pages",
                "changed-code", "hooked-function", "redirected-call", "interposed-call", "breakpoint",
                "debugger-attached", "debugger-parent", "unknown-threads", "agent-thread", "agent-descriptor",
                "agent-connection", "agent-port", "jailbreak-file", "jailbreak-link", "sandbox-open",
                "jailbreak-app", "unsigned-program", "other-team", "other-bundle", "other-program",
                "debuggable-program", "unexpected-profile", "other-profile", "missing-profile", "missing-receipt",
                "canary-accepted", "canary-refused",
            ])
        #expect(Set(SignalName.all).count == SignalName.all.count)
        for name in SignalName.all { #expect(SignalName(name.description, family: name.family) == name) }
    }

    @Test(
        "a name that does not fit into a report is none",
        arguments: ["", "Two Words", "ü", "a_b", String(repeating: "a", count: 49), "a\n"])
    func nameThatDoesNotFitIntoAReportIsNone(_ name: String) { #expect(SignalName(name, family: .app) == nil) }

    @Test("evidence that others wrote is one short printable line")
    func evidenceThatOthersWroteIsOneShortPrintableLine() {
        let signal = TamperSignal(
            .agentThread, .high, "evil\n\u{1B}[2J\u{202E}name" + String(repeating: "x", count: 500))
        #expect(signal.evidence.hasPrefix("evil??[2J?namexxx"))
        #expect(signal.evidence.count == TamperSignal.evidenceLength)
    }

    @Test("no evidence of a recorded attack tells where the code is")
    func noEvidenceOfARecordedAttackTellsWhereTheCodeIs() throws {
        for attack in RecordedAttackTests.attacks.map(\.0) {
            let machine = try RecordedMachine(attack)
            let addresses = machine.regions.map { String($0.start, radix: 16) }
            for detector in DetectorSet.standard().detectors {
                for signal in detector.look(at: machine).signals {
                    #expect(!addresses.contains { signal.evidence.contains($0) }, "\(signal)")
                    #expect(!signal.evidence.contains("/"), "\(signal)")
                }
            }
        }
    }

    @Test("confidences are ordered")
    func confidencesAreOrdered() { #expect([Confidence.high, .low, .medium].sorted() == [.low, .medium, .high]) }
}
