// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation
import PinListClient
import PinListRepository
import SimulatedInstallations

/// One drill, from the break until everything is repaired, or the person gives up.
struct DrillRun {
    /// The interval at which the list and the source are looked at again, in seconds: they may change in another
    /// terminal.
    private static let interval = 1.0

    private let stage: DrillStage
    private let broken: DrillBreak
    private let clock: any PinningClock
    private let person: any OnCallPerson
    /// The pins of the host before anything was broken.
    private let pinsBefore: Set<Pin>

    private var record: DrillRecord
    private var situation: DrillSituation
    private var sourceBytes: [UInt8]
    /// Whether connections are intercepted.
    private var isIntercepted: Bool

    /// Breaks something, and shows the person the consequences.
    ///
    /// - Parameters:
    ///   - scenario: The scenario.
    ///   - stage: The stage.
    ///   - isAutomatic: Whether the drill runs without a person.
    ///   - clock: The clock that times everything, and the waits between two checks.
    ///   - person: The person who is shown the progress.
    /// - Throws: ``CommandError`` when it cannot be broken.
    init(
        _ scenario: DrillScenario, on stage: DrillStage, isAutomatic: Bool, clock: any PinningClock,
        person: any OnCallPerson
    ) async throws {
        self.stage = stage
        self.clock = clock
        self.person = person
        self.pinsBefore = try await stage.situation().pins
        self.broken = try await stage.begin(scenario)
        self.isIntercepted = scenario == .strangeCA
        self.record = DrillRecord(
            scenario, host: stage.source.host, name: stage.source.name, installations: DrillStage.installations,
            refreshInterval: stage.source.refreshInterval, isAutomatic: isAutomatic, brokenAt: clock.now)
        self.situation = try await stage.situation()
        self.sourceBytes = try InputFile.read(stage.project.source.path)
        let link = isAutomatic ? nil : try await stage.service.loginLink()
        for line in stage.introduction(link) { person.tell(line) }
        try await self.askInstallations()
    }

    /// The record of the drill.
    var finished: DrillRecord {
        var record = self.record
        record.interceptedRequests = self.stage.interceptor.requests
        return record
    }

    // MARK: Without a person

    /// Does what the runbooks say.
    ///
    /// - Throws: ``CommandError`` of the first command that fails.
    mutating func repair() async throws {
        for deed in self.record.scenario.deeds(on: self.stage, self.broken) {
            try await self.perform(deed)
            try await self.look()
        }
    }

    private mutating func perform(_ deed: DrillDeed) async throws {
        switch deed {
        case .noticed: self.notice()
        case .cause(let cause): try await self.answer(cause)
        case .command(let words):
            let shown = self.stage.shown(words)
            self.note("$ \(shown)")
            let person = self.person
            do throws(CommandError) {
                try await Tumbler.run(words) { person.tell("    \($0)") }
            } catch {
                throw CommandError(error.exitCode, "\(shown): \(error.message)", hint: error.hint)
            }
        case .edit(let words, let file, let old, let new):
            try self.stage.edit(file, replacing: old, with: new)
            self.note(words)
            self.sourceBytes = try InputFile.read(self.stage.project.source.path)
        case .move(let old, let new):
            self.note("$ mv \(self.stage.shown([old, new], of: nil))")
            try CommandError.wrapping { () throws(RepositoryError) in
                try WrittenFile.expectNothing(at: new)
            }
            try FileManager.default.moveItem(atPath: old, toPath: new)
        }
    }

    // MARK: With a person

    private enum Event: Sendable {
        case line(String)
        case ran(Int32)
        case tick
        case ended
    }

    /// Waits for what the person does, here or in another terminal, until everything is repaired or nothing more can
    /// come.
    ///
    /// - Throws: `CancellationError`, and ``CommandError`` when the project of the drill cannot be looked at.
    mutating func waitForPerson() async throws {
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        let (person, clock) = (self.person, self.clock)
        let lines = Task {
            for await line in person.lines { continuation.yield(.line(line)) }
            continuation.yield(.ended)
        }
        let ticks = Task {
            while (try? await clock.sleep(seconds: Self.interval)) != nil { continuation.yield(.tick) }
        }
        defer {
            lines.cancel()
            ticks.cancel()
        }
        person.ask()
        // A command that a person types may take a while, and must not go on when its folder is gone.
        var isRunning = false
        for await event in events {
            switch event {
            case .line(let line):
                switch DrillLine(line) {
                case .quit: return
                case .shell(let line):
                    isRunning = true
                    self.record.note("$ \(line)", at: self.clock.now)
                    self.runInShell(line) { continuation.yield(.ran($0)) }
                case .other(let typed):
                    try await self.answer(typed)
                    try await self.look()
                    if !self.record.isOver { person.ask() }
                }
            case .ran(let code):
                isRunning = false
                if code != 0 { self.note("that ended with exit code \(code)") }
                try await self.look()
                if !self.record.isOver { person.ask() }
            case .tick: try await self.look()
            case .ended: return
            }
            if self.record.isOver, !isRunning { return }
        }
        try Task.checkCancellation()
    }

    private func runInShell(_ line: String, _ done: @escaping @Sendable (Int32) -> Void) {
        let (person, folder) = (self.person, self.stage.project.folder.path)
        let token = self.stage.service.tokenFile.path
        Task { done(await person.run(line, in: folder, tokenFile: token)) }
    }

    /// Answers what was typed for the drill itself.
    private mutating func answer(_ typed: DrillLine.Typed) async throws {
        switch typed {
        case .nothing: break
        case .noticed:
            if self.record.has(.noticed) { self.person.tell("That is written down already.") }
            self.notice()
        case .cause(let cause): try await self.answer(cause)
        case .causes: for line in DrillCause.question { self.person.tell(line) }
        case .pages: try await self.askInstallations()
        case .help: for line in DrillLine.help { self.person.tell(line) }
        case .wrong(let why): self.person.tell(why)
        }
    }

    // MARK: What is written down

    private mutating func note(_ words: String) {
        self.record.note(words, at: self.clock.now)
        self.person.tell(words)
    }

    private mutating func notice() {
        guard self.record.reach(.noticed, at: self.clock.now) else { return }
        self.note("noticed")
    }

    private mutating func answer(_ cause: DrillCause) async throws {
        // A person who looks for a cause has noticed.
        self.notice()
        guard cause == self.record.scenario.cause else {
            return self.note("cause \(cause.rawValue), \(cause.words): that is not it")
        }
        guard self.record.reach(.causeFound, at: self.clock.now) else { return }
        self.note("cause \(cause.rawValue), \(cause.words): that is it")
        guard self.isIntercepted else { return }
        self.isIntercepted = false
        self.note("the owner of the network was told, and connections are no longer intercepted")
        try await self.askInstallations()
    }

    /// Checks what is published, and has the installations ask when it is new.
    private mutating func look() async throws {
        let bytes = (try? InputFile.read(self.stage.project.source.path)) ?? []
        if bytes != self.sourceBytes {
            self.sourceBytes = bytes
            self.note("\(ProjectFolder.sourceName) was changed")
        }
        let now = try await self.stage.situation()
        guard now != self.situation else { return }
        if now.digest != self.situation.digest {
            self.note("version \(now.version) is served\(now.isSuspended ? ", in which the host is suspended" : "")")
        }
        if now.signers != self.situation.signers { self.note("another root is served, with other signers of lists") }
        self.situation = now
        self.notice()
        if now.isSuspended { self.record.reach(.suspended, at: self.clock.now) }
        if self.isRepairPublished { self.record.reach(.listPublished, at: self.clock.now) }
        try await self.askInstallations()
    }

    private var isRepairPublished: Bool {
        // An interceptor is no reason for another list.
        if self.record.scenario == .strangeCA { return self.situation.pins != self.pinsBefore }
        return self.broken.isRepaired(by: self.situation, serving: self.stage.server.pin.description)
    }

    /// All installations ask for a newer list, and for their page.
    private mutating func askInstallations() async throws {
        _ = await self.stage.population.refresh()
        let (server, interceptor) = (self.stage.server.port, self.stage.interceptor.port)
        let intercepted = self.isIntercepted ? DrillStage.intercepted : 0
        let answer = await self.stage.population.fetch { $0 < intercepted ? interceptor : server }
        try Task.checkCancellation()
        let pages = DrillPages(answer)
        self.note("of \(DrillStage.installations) installations \(pages.words)")
        let isRepaired = self.record.scenario == .strangeCA ? !self.isIntercepted : self.isRepairPublished
        if isRepaired, pages.areAllPinned { self.record.reach(.allBack, at: self.clock.now) }
    }
}
