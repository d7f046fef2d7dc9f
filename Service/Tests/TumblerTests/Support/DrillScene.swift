// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import NIOConcurrencyHelpers
import PinListRepository
import PinningTesting
import Testing

@testable import tumbler

/// A project to drill with, and drills of it in this process.
struct DrillScene {
    /// The time on the clock of a drill when something breaks.
    static let start = Timestamp(secondsSince1970: 1_795_219_200)  // 2026-11-21T00:00:00Z

    /// A project whose list leads out of this machine wherever a list can.
    static let text = """
        name: com.example.app
        validFor: 45d
        refreshAfter: 6h
        propagation: 20d
        reportTo: [https://reports.example.net/v1]
        server: https://pins.example.net
        domains:
          - domain: report.example.com
            mode: report
            pins:
              - {pin: "\(ProjectText.pin("c"))", note: current}
              - {pin: "\(ProjectText.pin("d"))", note: backup}
          - domain: api.example.com
            includeSubdomains: true
            reportTo: [https://reports.example.org/v1]
            pins:
              - {pin: "\(ProjectText.pin("a"))", note: current}
              - {pin: "\(ProjectText.pin("b"))", note: backup}

        """

    let folder: URL
    let clock = ManualClock(Self.start)

    /// The source of the project.
    var source: ListSource {
        get throws {
            try self.folder.write(Self.text, as: "tumbler.yaml")
            var option = ProjectOption()
            option.directory = self.folder.path
            return try SourceInput(nil, option).source
        }
    }

    /// Holds a drill without a person.
    func automatic(_ scenario: DrillScenario) async throws -> (record: DrillRecord, told: [String]) {
        let person = ScriptedPerson([], self.clock)
        let record = try await Drill.run(
            scenario, copying: try self.source, host: nil, isAutomatic: true, clock: self.clock, person: person)
        return (record, person.told)
    }

    /// Holds a drill with a person who types.
    func typed(
        _ scenario: DrillScenario, _ script: [(after: Int64, line: String)]
    ) async throws -> (record: DrillRecord, told: [String]) {
        let person = ScriptedPerson(script, self.clock)
        let record = try await Drill.run(
            scenario, copying: try self.source, host: nil, isAutomatic: false, clock: self.clock, person: person)
        return (record, person.told)
    }
}
