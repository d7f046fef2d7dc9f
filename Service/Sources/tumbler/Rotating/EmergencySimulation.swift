// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinListRepository
import PinListSimulation
import PinRotation

/// The simulated effect on installations when a list with a new key and the key itself go out now, with the lists that
/// installations hold and the source's own times.
struct EmergencySimulation {
    /// The number of installations that are simulated: a share is right to within one percent.
    static let clients = 10_000

    private static let seed: UInt64 = 1
    private static let hour: Int64 = 3_600
    private static let day: Int64 = 86_400

    /// Older lists count as the oldest that is looked at.
    private static let maximumPast = 90 * day
    private static let maximumLists = 64

    /// The number of lists that installations were taken to hold; 1 where none is known.
    let lists: Int

    private let answer: SimulationAnswer
    private let begun: Int
    private let refusing: [Int]

    /// Simulates.
    ///
    /// - Parameters:
    ///   - plan: The plan, of which nothing is published.
    ///   - held: The lists that installations may hold, in any order.
    ///   - refreshAfter: The time that clients wait before they ask again, in seconds.
    ///   - curve: The frequency at which installations are opened.
    ///   - seconds: The length of the suspension; `nil` for not at all.
    ///   - time: Now.
    /// - Throws: `SimulationError` for values that the simulator does not take.
    init(
        _ plan: RotationPlan, held: [PinList], refreshAfter: Int64, _ curve: AdoptionForecast,
        suspendedFor seconds: Int64?, at time: Timestamp
    ) throws(SimulationError) {
        let byVersion = Dictionary(held.map { ($0.version, $0) }) { first, _ in first }
        let lists = Array(byVersion.values.sorted { $0.version < $1.version }.suffix(Self.maximumLists))
        let oldest = lists.first?.issuedAt ?? time
        let past = min(max(time.secondsSince1970 - oldest.secondsSince1970, 0), Self.maximumPast)
        // The new list goes out at the beginning of an hour: the answer counts whole hours.
        let hours = past / Self.hour + (past % Self.hour == 0 ? 0 : 1)
        let now = TimeSpan(seconds: hours * Self.hour)
        let begin = time.secondsSince1970 - now.seconds

        let scale = TimeSpan(seconds: Int64(exactly: curve.scale.rounded()) ?? TimeSpan.maximum)
        var scenario = Scenario(clients: Self.clients, opened: .gammaPoisson(shape: curve.shape, scale: scale))
        scenario.refreshAfter = TimeSpan(seconds: refreshAfter)
        scenario.days = (Int(exactly: hours) ?? 0) / 24 + 32
        let (old, new) = (Scenario.firstKey, "new")
        // All installations begin with the oldest list.
        var refusing = [1]
        for (index, list) in lists.dropFirst().enumerated() {
            let doesAccept = Self.accepts(list, plan)
            if !doesAccept { refusing.append(index + 2) }
            let moment = min(list.issuedAt.secondsSince1970 - begin, now.seconds)
            scenario.events.append(
                .init(at: TimeSpan(seconds: moment), .publish(pins: doesAccept ? [old, new] : [old])))
        }
        scenario.events.append(.init(at: now, .publish(pins: [old, new])))
        if let seconds { scenario.events.append(.init(at: now, .suspend(TimeSpan(seconds: seconds)))) }
        scenario.events.append(.init(at: now, .switchTo(new)))
        self.answer = try Simulation(scenario, seed: Self.seed).answer()
        self.begun = Int(exactly: hours) ?? 0
        self.refusing = refusing
        self.lists = max(lists.count, 1)
    }

    /// Whether who holds a list connects to a server with the new key alone.
    static func accepts(_ list: PinList, _ plan: RotationPlan) -> Bool {
        guard let entry = list.domains.first(where: { $0.entry.domain == plan.host })?.entry else { return true }
        return entry.mode != .enforce || entry.pins.contains { $0.pin == plan.new.pin }
    }

    /// The share of the installations whose list refuses the new key, some whole hours after it went out.
    func refusing(after seconds: Int64) -> Double {
        let index = self.index(after: seconds)
        guard self.answer.series.indices.contains(index) else { return 1 }
        let holding = self.answer.series[index].holding
        let refusing = self.refusing.reduce(0) { $0 + (holding["\($1)"] ?? 0) }
        return Double(refusing) / Double(Self.clients)
    }

    /// The share that was refused of the installations that were opened, hour by hour, from when the key went out.
    func refused(within seconds: Int64) -> Double {
        let hours = self.answer.series.dropFirst(self.begun).prefix(self.index(after: seconds) - self.begun)
        let opened = hours.reduce(0) { $0 + $1.opened }
        return opened == 0 ? 0 : Double(hours.reduce(0) { $0 + $1.refused }) / Double(opened)
    }

    private func index(after seconds: Int64) -> Int { self.begun + (Int(exactly: seconds / Self.hour) ?? 0) }
}
