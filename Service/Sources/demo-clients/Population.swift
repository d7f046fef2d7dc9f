// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// All clients, some of them at a time.
struct Population: Sendable {
    /// How many do something at the same time: a machine with two cores is enough for the demonstration.
    static let mostAtOnce = 8

    /// The clients.
    let clients: [SimulatedClient]
    /// What became of their reports.
    let tally: ReportTally

    /// Does what a line asks for.
    func answer(_ line: String) async -> PopulationAnswer {
        switch PopulationCommand(line) {
        case .refresh(let first): await self.refresh(first ?? self.clients.count)
        case .fetch(let port, let intercepted, let interceptor):
            await self.fetch { $0 < intercepted ? interceptor : port }
        case .reports(let total): await self.reports(total)
        case nil: PopulationAnswer(did: .nothing)
        }
    }

    private func refresh(_ count: Int) async -> PopulationAnswer {
        var (changed, versions, failed) = (0, [String: Int](), [String: Int]())
        for outcome in await self.each(count, { _, client in await client.refresh() }) {
            switch outcome {
            case .done(let hasChanged, let version):
                changed += hasChanged ? 1 : 0
                versions["\(version)", default: 0] += 1
            case .failed(let words): failed[words, default: 0] += 1
            }
        }
        return PopulationAnswer(did: .refresh, changed: changed, versions: versions, failed: failed)
    }

    private func fetch(from port: @escaping @Sendable (Int) -> Int) async -> PopulationAnswer {
        var (allowed, refused, failed) = ([String: Int](), [String: Int](), [String: Int]())
        let pages = await self.each(self.clients.count) { number, client in await client.page(port: port(number)) }
        for page in pages {
            switch page {
            case .allowed(let reason): allowed[reason, default: 0] += 1
            case .refused(let reason): refused[reason, default: 0] += 1
            case .failed(let words): failed[words, default: 0] += 1
            }
        }
        return PopulationAnswer(did: .fetch, allowed: allowed, refused: refused, failed: failed)
    }

    private func reports(_ total: Int) async -> PopulationAnswer {
        await self.tally.wait(for: total)
        return PopulationAnswer(
            did: .reports, accepted: await self.tally.accepted, turnedAway: await self.tally.turnedAway)
    }

    /// Has the first clients do something.
    private func each<Outcome: Sendable>(
        _ count: Int, _ act: @escaping @Sendable (Int, SimulatedClient) async -> Outcome
    ) async -> [Outcome] {
        await withTaskGroup(of: Outcome.self) { group in
            var outcomes: [Outcome] = []
            for (number, client) in self.clients.prefix(count).enumerated() {
                if number >= Self.mostAtOnce, let outcome = await group.next() { outcomes.append(outcome) }
                group.addTask { await act(number, client) }
            }
            for await outcome in group { outcomes.append(outcome) }
            return outcomes
        }
    }
}
