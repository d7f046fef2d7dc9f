// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import AsyncHTTPClient
internal import Foundation
internal import PinListClient
internal import PinningNIO

/// All clients, some of them at a time.
package struct Population: Sendable {
    /// The number of clients that act at the same time: a machine with two cores is enough for the demonstration.
    static let maximumAtOnce = 8

    /// The clients.
    package let clients: [SimulatedClient]
    /// The results of sending their reports.
    let tally: ReportTally

    /// Makes clients that have just been installed.
    ///
    /// - Parameters:
    ///   - count: The number of clients.
    ///   - root: The path of the root that the app ships.
    ///   - list: The path of the list that the app ships.
    ///   - address: The base address of the list.
    ///   - roots: The path of the roots that the devices trust, PEM.
    ///   - host: The pinned host; it is asked on loopback.
    ///   - http: The client that sends their reports.
    /// - Throws: `PinningSetupError` for files and an address that an app could not ship.
    package init(
        _ count: Int, shipping root: String, _ list: String, refreshFrom address: String, trusting roots: String,
        host: String, reportingOver http: HTTPClient
    ) throws {
        let tally = ReportTally()
        let fetcher = HTTPClientFetcher()
        self.tally = tally
        self.clients = try (0..<count).map { number in
            let place = SimulatedPlace(number: number)
            let configuration = PinningConfiguration(
                fetcher: fetcher, reportSender: ForwardedReportSender(client: http, place: place, tally: tally),
                app: place.app, clock: StandingClock(), randomness: PromptRandomness())
            let pinning = try Pinning(
                root: .file(root), list: .file(list), refreshFrom: URL(string: address), state: .memory,
                configuration: configuration)
            return try SimulatedClient(pinning, host: host, roots: roots)
        }
    }

    /// The first of them ask for a newer list.
    ///
    /// - Parameter first: The number of clients; all of them without a number.
    package func refresh(first: Int? = nil) async -> PopulationAnswer {
        var (changed, versions, failed) = (0, [String: Int](), [String: Int]())
        for outcome in await self.each(first ?? self.clients.count, { _, client in await client.refresh() }) {
            switch outcome {
            case .done(let hasChanged, let version):
                changed += hasChanged ? 1 : 0
                versions["\(version)", default: 0] += 1
            case .failed(let words): failed[words, default: 0] += 1
            }
        }
        var answer = PopulationAnswer(did: .refresh)
        (answer.changed, answer.versions, answer.failed) = (changed, versions, failed)
        return answer
    }

    /// All get their page.
    ///
    /// - Parameter port: The port to which a client is led, by its number from 0.
    package func fetch(from port: @escaping @Sendable (Int) -> Int) async -> PopulationAnswer {
        var (allowed, refused, failed) = ([String: Int](), [String: Int](), [String: Int]())
        let pages = await self.each(self.clients.count) { number, client in await client.page(port: port(number)) }
        for page in pages {
            switch page {
            case .allowed(let reason): allowed[reason, default: 0] += 1
            case .refused(let reason): refused[reason, default: 0] += 1
            case .failed(let words): failed[words, default: 0] += 1
            }
        }
        var answer = PopulationAnswer(did: .fetch)
        (answer.allowed, answer.refused, answer.failed) = (allowed, refused, failed)
        return answer
    }

    /// Waits until so many reports were answered since the beginning.
    package func reports(_ total: Int) async -> PopulationAnswer {
        await self.tally.wait(for: total)
        var answer = PopulationAnswer(did: .reports)
        answer.accepted = await self.tally.accepted
        answer.turnedAway = await self.tally.turnedAway
        return answer
    }

    /// Ends their connections.
    package func shutdown() async {
        for client in self.clients { await client.shutdown() }
    }

    /// Has the first clients do something.
    private func each<Outcome: Sendable>(
        _ count: Int, _ act: @escaping @Sendable (Int, SimulatedClient) async -> Outcome
    ) async -> [Outcome] {
        await withTaskGroup(of: Outcome.self) { group in
            var outcomes: [Outcome] = []
            for (number, client) in self.clients.prefix(count).enumerated() {
                if number >= Self.maximumAtOnce, let outcome = await group.next() { outcomes.append(outcome) }
                group.addTask { await act(number, client) }
            }
            for await outcome in group { outcomes.append(outcome) }
            return outcomes
        }
    }
}

/// The answer to a command: counts. What does not belong to a command is absent.
package struct PopulationAnswer: Encodable, Hashable, Sendable {
    /// The task that was carried out.
    package enum Deed: String, Encodable, Sendable {
        case refresh, fetch, reports
        /// The line was no command.
        case nothing
    }

    /// The task that was carried out.
    package let did: Deed
    /// The number of clients that hold something new.
    package var changed: Int?
    /// The numbers of clients that hold each version.
    package var versions: [String: Int]?
    /// The numbers of pages that came, by the reason of the decision.
    package var allowed: [String: Int]?
    /// The numbers of pages that pinning refused, by the reason.
    package var refused: [String: Int]?
    /// The other errors, by their text.
    package var failed: [String: Int]?
    /// The number of reports that the service accepted since the beginning.
    package var accepted: Int?
    /// The number that it did not accept.
    package var turnedAway: Int?

    /// An answer without counts.
    package init(did: Deed) { self.did = did }
}
