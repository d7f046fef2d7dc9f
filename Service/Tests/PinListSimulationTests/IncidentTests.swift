// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinListRepository
import PinListSimulation
import Testing

@Suite("Real incidents, told again")
struct IncidentTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("docs/incidents")

    private func answer(_ name: String) throws -> SimulationAnswer {
        let file = Self.folder.appendingPathComponent("\(name).yaml")
        let scenario = try Scenario(
            yaml: Array(try Data(contentsOf: file)), file: file.path, files: DiskFiles(in: Self.folder))
        #expect(scenario.clients == 100_000)
        return try Simulation(scenario, seed: 1).answer()
    }

    @Test("a bank's payment app, 2016: every user who opens it is refused for three weeks")
    func banksPaymentApp2016EveryUserWhoOpensItIsRefusedForThreeWeeks() throws {
        let answer = try self.answer("barclays-pingit-2016")
        #expect(answer.series[..<32].allSatisfy { $0.refused == 0 })
        #expect(answer.series[33..<(22 * 24)].allSatisfy { $0.refused == $0.opened })
        #expect(answer.peak.share == 1)
        #expect(answer.neverRecovered < 5_000)
    }

    @Test("Duo, 2022: refused until the old certificate is back, and none for longer")
    func duo2022RefusedUntilTheOldCertificateIsBackAndNoneForLonger() throws {
        let answer = try self.answer("duo-2022")
        #expect(answer.series[16].refused == answer.series[16].opened && answer.series[16].refused > 5_000)
        #expect(answer.series[19...].allSatisfy { $0.refused == 0 })
        #expect(answer.neverRecovered == 0)
    }

    @Test("xMatters, 2020, with a signed list: each installation is refused once, at its first opening")
    func xMatters2020WithASignedListEachInstallationIsRefusedOnceAtItsFirstOpening() throws {
        let answer = try self.answer("xmatters-2020")
        #expect(answer.neverRecovered == 0)
        let reached = try #require(answer.reached.last).share
        #expect(abs(Double(answer.refusedClientHours) / 100_000 - reached) < 0.01)
        #expect(reached > 0.9)
    }

    @Test("Smashing Magazine, 2016: who had been there before is refused to the end, and hears of no new pin")
    func smashingMagazine2016WhoHadBeenThereBeforeIsRefusedToTheEndAndHearsOfNoNewPin() throws {
        let answer = try self.answer("smashing-magazine-2016")
        #expect(answer.series[..<24].allSatisfy { $0.refused == 0 })
        #expect(answer.series[25...].allSatisfy { $0.refused == $0.opened })
        #expect(answer.neverRecovered > 50_000)
        #expect(answer.reached.allSatisfy { $0.share < 0.01 })
    }
}
