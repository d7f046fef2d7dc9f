// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinRotation
import Testing

/// The operator types the real commands, the service counts what it is asked, and 200 installations decide with the
/// client library. There are no handshakes but those of the operator, who looks at the host by TLS.
@Suite("A whole rotation with the service and 200 clients")
struct WholeRotationTests {
    private static let announcedVersion: Int64 = 3

    /// The answer that the gate must have counted: the requests of a day, of which those refuse that name an older
    /// list.
    private func counted(_ listRequests: [InstalledApps.ListRequest]) -> GateRefusing {
        let old = listRequests.count { $0.version < Self.announcedVersion }
        return GateRefusing(
            share: Double(old) / Double(listRequests.count), hours: 24, requests: Int64(listRequests.count))
    }

    /// Plans the rotation and announces the new key.
    private func announce(_ scene: RotationScene) async throws {
        let planned = try await scene.rotate("plan", ["--pin", "\(try scene.new.pin)"])
        #expect(planned.exitCode == 0, "\(planned)")
        let announced = try await scene.rotate("next", ["--yes"])
        #expect(announced.exitCode == 0, "\(announced)")
        #expect(announced.lines == ["api.example.com: planned, now announced, with version 3 of the list"])
    }

    /// Each installation is opened 1.8 times a day on average, and every one of them between the announcement and the
    /// switch: who is opened more rarely is what the gate's 1 % is for.
    @Test("60 days: the gate opens because adoption is measured, and no connection of any client is refused")
    func of60DaysTheGateOpensBecauseAdoptionIsMeasured() async throws {
        let habits = InstalledApps.Habits(shape: 3, scale: 144_000, refreshHours: 1, seed: 18)
        try await RotationScene.with(habits, days: 61) { scene, apps in
            // Switched at once, the key would lock out all clients.
            #expect(apps.refusing(scene.newPath) == 200)
            try await self.announce(scene)
            var opened: Int64?
            for day: Int64 in 0...60 {
                try await apps.live(on: day)
                let listRequests = apps.listRequests(on: day)
                try await scene.service.record(listRequests.count)
                if opened == nil {
                    let (answer, exitCode) = try await scene.gate()
                    #expect(answer.refusing == self.counted(listRequests), "day \(day)")
                    let next = try await scene.rotate("next")
                    if answer.verdict == .safe {
                        opened = day
                        #expect(exitCode == 0 && next.exitCode == 0, "\(next)")
                        #expect(next.lines == ["api.example.com: announced, now ready"])
                    } else {
                        #expect(answer.verdict == .unsafe && exitCode == 1)
                        #expect(next.exitCode == 1 && next.errors.contains("the gate says unsafe"), "\(next)")
                    }
                }
                switch day {
                case 29:
                    // All of them know the new key, and none of them met it yet.
                    #expect(try await scene.gate().answer.refusing == self.counted(listRequests))
                    #expect(apps.holding(Self.announcedVersion) == 200)
                    try scene.deploy(to: &apps)
                    try apps.restart()
                    let switched = try await scene.rotate("next")
                    #expect(switched.lines == ["api.example.com: ready, now switched"], "\(switched)")
                case 34, 39, 44, 49, 54:
                    let status = try await scene.rotate("status")
                    #expect(status.exitCode == 0, "\(status)")
                case 59:
                    let retired = try await scene.rotate("next", ["--yes"])
                    #expect(
                        retired.lines == ["api.example.com: switched, now retired, with version 4 of the list"],
                        "\(retired)")
                default: break
                }
            }
            // Before that time alone says it: 30 days are the project's propagation.
            let day = try #require(opened)
            #expect((1...10).contains(day))
            #expect(apps.listRequests(on: day).count >= 300)
            #expect(apps.refused == 0)
            #expect(apps.openings > 20_000)
            // The end of the rotation arrived, too: who has the newest list refuses the old key.
            let retired = apps.holding(Self.announcedVersion + 1)
            #expect(retired > 100)
            #expect(apps.refusing(scene.oldPath) == retired)
        }
    }

    /// Many installations are opened rarely, so that the share falls slowly: from 2.6 % on the third day to 1.9 % on
    /// the fourth, on the average of 20 seeds. How many of 200 come on a day is a matter of luck, too: with this seed
    /// about as many come for the first time on the one day as on the other.
    @Test("a switch that is forced when the gate says unsafe: what it said is what is refused, within one hundredth")
    func switchThatIsForcedWhenTheGateSaysUnsafeWhatItSaidIsWhatIsRefused() async throws {
        let habits = InstalledApps.Habits(shape: 0.4, scale: 8_640, refreshHours: 4, seed: 2)
        try await RotationScene.with(habits, days: 4) { scene, apps in
            try await self.announce(scene)
            for day: Int64 in 0...2 {
                try await apps.live(on: day)
                try await scene.service.record(apps.listRequests(on: day).count)
            }
            #expect(apps.refused == 0)

            let said = try await scene.gate()
            #expect(said.exitCode == 1 && said.answer.verdict == .unsafe, "\(said)")
            #expect(said.answer.refusing == self.counted(apps.listRequests(on: 2)))
            let share = try #require(said.answer.refusing.share)
            #expect(share > 0.02)
            let closed = try await scene.rotate("next")
            #expect(closed.exitCode == 1 && closed.errors.contains("the gate says unsafe"), "\(closed)")

            let forced = try await scene.rotate("next", ["--force", "announced", "--reason", "the old key is lost"])
            #expect(forced.exitCode == 0, "\(forced)")
            #expect(forced.lines == ["api.example.com: announced, now ready, forced: the old key is lost"])
            #expect(try scene.plan.contains("forced: \"the old key is lost\""))
            try scene.deploy(to: &apps)
            let switched = try await scene.rotate("next")
            #expect(switched.lines == ["api.example.com: ready, now switched"], "\(switched)")

            try await apps.live(on: 3)
            let listRequests = apps.listRequests(on: 3)
            try await scene.service.record(listRequests.count)
            let refused = listRequests.count { $0.isRefused }
            #expect(refused > 0)
            #expect(abs(Double(refused) / Double(listRequests.count) - share) <= 0.01)
            // The gate counts the requests that are refused: those, and no others.
            #expect(listRequests.allSatisfy { $0.isRefused == ($0.version < Self.announcedVersion) })
            let after = try await scene.gate()
            #expect(after.answer.refusing == self.counted(listRequests))
            #expect(after.answer.refusing.share == Double(refused) / Double(listRequests.count))
            // Each of them once: the refresh that follows brings the list with the new key.
            #expect(apps.refused == refused)
            #expect(apps.refusedAgain == 0)
        }
    }
}
