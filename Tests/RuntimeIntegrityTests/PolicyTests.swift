// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RuntimeIntegrity

/// What follows from signals.
@Suite struct PolicyTests {
    private let agent = TamperSignal(.codeWithoutFile, .high, "")
    private let pages = TamperSignal(.changedCodePages, .high, "")
    private let tracer = TamperSignal(.debuggerAttached, .high, "")

    @Test("by default everything is attached and nothing else happens")
    func byDefaultEverythingIsAttachedAndNothingElseHappens() {
        let all = SignalName.all.map { TamperSignal($0, .high, "") }
        let decision = TamperPolicy(ignoresDebuggers: false).decision(for: all)
        #expect(decision.attached == SignalName.all.prefix(TamperDecision.maximumAttached).map(\.description))
        #expect(!decision.refuses && !decision.wipes && !decision.ends)
    }

    @Test("of more signals than a report takes the surest are attached, whichever came first")
    func ofMoreSignalsThanAReportTakesTheSurestAreAttachedWhicheverCameFirst() throws {
        try #require(SignalName.all.count > TamperDecision.maximumAttached)
        let last = try #require(SignalName.all.last)
        let signals =
            SignalName.all.dropLast().map { TamperSignal($0, .low, "") }
            + [TamperSignal(last, .low, ""), TamperSignal(last, .high, "")]
        let attached = TamperPolicy(ignoresDebuggers: false).decision(for: signals).attached
        #expect(
            attached == SignalName.all.prefix(TamperDecision.maximumAttached - 1).map(\.description) + [
                last.description
            ])
    }

    @Test("a signal refuses only where a rule names refusing for that signal")
    func signalRefusesOnlyWhereARuleNamesRefusingForThatSignal() {
        let policy = TamperPolicy([TamperRule(.codeWithoutFile, [.refuse])], ignoresDebuggers: false)
        #expect(policy.decision(for: [self.agent]).refuses)
        #expect(!policy.decision(for: [self.pages, self.tracer]).refuses)
        #expect(!policy.decision(for: [self.agent]).wipes)
        #expect(!TamperPolicy([TamperRule(.codeWithoutFile, [.attach, .record])]).decision(for: [self.agent]).refuses)
    }

    @Test("a signal of low confidence has no consequences unless the rule says so")
    func signalOfLowConfidenceHasNoConsequencesUnlessTheRuleSaysSo() {
        let low = TamperSignal(.preloadedLibrary, .low, "")
        #expect(!TamperPolicy([TamperRule(.preloadedLibrary, [.refuse])]).decision(for: [low]).refuses)
        #expect(TamperPolicy([TamperRule(.preloadedLibrary, [.refuse], from: .low)]).decision(for: [low]).refuses)
    }

    @Test("one signal wipes and ends nothing; two of one family do not either")
    func oneSignalWipesAndEndsNothingTwoOfOneFamilyDoNotEither() {
        let both: Set<TamperAction> = [.wipe, .end]
        let rules = [
            TamperRule(.codeWithoutFile, both), TamperRule(.anonymousCode, both), TamperRule(.changedCodePages, both),
        ]
        let policy = TamperPolicy(rules, ignoresDebuggers: false)
        let sibling = TamperSignal(.anonymousCode, .high, "")
        #expect(self.agent.name.family == sibling.name.family)
        for signals in [[self.agent], [self.agent, self.agent], [self.agent, sibling], [self.agent, self.tracer]] {
            let decision = policy.decision(for: signals)
            #expect(!decision.wipes && !decision.ends)
        }
        let decision = policy.decision(for: [self.agent, self.pages])
        #expect(decision.wipes && decision.ends && !decision.refuses)
    }

    @Test("wiping needs two signals that are both named for wiping")
    func wipingNeedsTwoSignalsThatAreBothNamedForWiping() {
        let rules = [TamperRule(.codeWithoutFile, [.wipe]), TamperRule(.changedCodePages, [.end])]
        let decision = TamperPolicy(rules, ignoresDebuggers: false).decision(for: [self.agent, self.pages])
        #expect(!decision.wipes && !decision.ends)
    }

    @Test("a debugger has no consequences in a debug build, an agent has")
    func debuggerHasNoConsequencesInADebugBuildAnAgentHas() {
        let rules = TamperPolicy.refusing.rules
        let debug = TamperPolicy(rules, ignoresDebuggers: true)
        let breakpoint = TamperSignal(.breakpoint, .high, "")
        let decision = debug.decision(for: [self.tracer, breakpoint, self.pages])
        #expect(!decision.refuses)
        #expect(decision.attached == ["debugger-attached", "breakpoint", "changed-code-pages"])
        #expect(debug.decision(for: [self.tracer, self.agent]).refuses)
        #expect(TamperPolicy(rules, ignoresDebuggers: false).decision(for: [self.tracer]).refuses)
    }

    @Test("no more names are attached than a report takes, each once")
    func noMoreNamesAreAttachedThanAReportTakesEachOnce() throws {
        let signals = try (0..<50).flatMap { number in
            let name = try #require(SignalName("own-\(number)", family: .app))
            return [TamperSignal(name, .low, ""), TamperSignal(name, .high, "")]
        }
        let attached = TamperPolicy().decision(for: signals).attached
        #expect(attached == (0..<32).map { "own-\($0)" })
    }
}
