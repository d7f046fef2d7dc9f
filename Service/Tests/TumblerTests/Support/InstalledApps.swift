// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import HTTPTypes
import NIOCore
@_spi(Simulation) import PinListClient
import PinningTesting
import Testing

@testable import PinListServer
@testable import PinListSimulation

/// Installations of an app in one process, each with the client library, a state and an address of its own, which are
/// opened as a seeded gamma-Poisson model says.
///
/// An installation that is opened first connects to the pinned host, under the list that it holds: the library decides
/// by the certificates that the server presents; no handshake is made. Then it asks for a newer list when that is due,
/// or when it was refused, and after a newer list it connects again.
struct InstalledApps {
    /// The times at which they are opened, and how often they ask.
    struct Habits {
        /// The number of installations.
        let count = 200
        /// Of the distribution of their openings a day.
        let shape: Double
        /// Of the same, in seconds: the mean is shape/scale.
        let scale: Int64
        /// The time that they wait before they ask again, in hours.
        let refreshHours: Int64
        /// Of all random numbers.
        let seed: UInt64
    }

    /// A conditional request for the list.
    struct ListRequest {
        /// The day, from 0.
        let day: Int64
        /// The version that it named.
        let version: Int64
        /// Whether the connection before it was refused.
        let isRefused: Bool
    }

    static let host = "api.example.com"
    private static let site = "https://pins.example.com"
    private static let day: Int64 = 86_400

    /// The path that the pinned host presents.
    var presented: ValidatedPath
    /// All requests so far.
    private(set) var listRequests: [ListRequest] = []
    /// The number of openings.
    private(set) var openings = 0
    /// The number of connections that were refused.
    private(set) var refused = 0
    /// The number that were refused again right after a refresh.
    private(set) var refusedAgain = 0

    private let habits: Habits
    private let clock: ManualClock
    private let start: Timestamp
    private let made: (Int) throws -> Pinning
    private var apps: [Pinning]
    private var calendar: [Int64: [(moment: Int64, app: Int)]] = [:]

    /// Installs them.
    ///
    /// - Parameters:
    ///   - name: The name of the list.
    ///   - root: The root that the app ships.
    ///   - list: The list that it ships.
    ///   - clock: The clock of all of them. It shows the beginning of the first day.
    ///   - days: For how long there are openings.
    init(
        _ habits: Habits, of name: String, shipping root: [UInt8], _ list: [UInt8], asking responder: ListResponder,
        presented: ValidatedPath, clock: ManualClock, days: Int64
    ) throws {
        let stores = (0..<habits.count).map { _ in MemoryStore() }
        let made = { (number: Int) throws -> Pinning in
            let source = try HostName("2001:db8:\(String(number + 1, radix: 16))::1")
            let network = Network(
                responder: responder, peer: try #require(IPAddress(source)), clock: clock, site: Self.site)
            return try Pinning(
                root: .bytes(root), list: .bytes(list), refreshFrom: URL(string: "\(Self.site)/v1/lists/\(name)"),
                state: .store(stores[number]),
                configuration: PinningConfiguration(
                    fetcher: network, reportSender: NoNetwork(), clock: clock,
                    randomness: FixedRandomness(fraction: Double(number) / Double(habits.count))))
        }
        self.habits = habits
        self.presented = presented
        self.clock = clock
        self.start = clock.now
        self.made = made
        self.apps = try (0..<habits.count).map(made)
        let openings = (0..<habits.count).flatMap { Self.openings(of: $0, habits, until: days * Self.day) }
        self.calendar = Dictionary(grouping: openings.sorted { $0 < $1 }) { $0.moment / Self.day }
    }

    /// The times at which an installation is opened, in seconds from the beginning.
    private static func openings(
        of app: Int, _ habits: Habits, until horizon: Int64
    ) -> [(moment: Int64, app: Int)] {
        var traits = ClientRandomness(seed: habits.seed, client: app, .traits)
        var openings = Openings(
            .gammaPoisson(shape: habits.shape, scale: TimeSpan(seconds: habits.scale)), horizon: horizon)
        openings.begin(seed: habits.seed, client: app, &traits)
        var moments: [(moment: Int64, app: Int)] = []
        var moment = openings.next(from: 1)
        while moment < horizon {
            moments.append((moment, app))
            moment = openings.next(from: moment + 1)
        }
        return moments
    }

    /// A whole day, after which the clock shows its last second.
    mutating func live(on day: Int64) async throws {
        for (moment, app) in self.calendar[day] ?? [] {
            self.clock.now = self.start.advanced(by: moment)
            try await self.open(app, on: day)
        }
        self.clock.now = self.start.advanced(by: (day + 1) * Self.day - 1)
    }

    private mutating func open(_ number: Int, on day: Int64) async throws {
        let pinning = self.apps[number]
        self.openings += 1
        let isRefused = self.isRefused(pinning, self.presented)
        if isRefused { self.refused += 1 }
        let interval = self.habits.refreshHours * 3_600
        let wait = await pinning.refreshSchedule.wait(refreshInterval: interval, at: self.clock.now)
        guard wait == 0 || isRefused else { return }
        let version = try #require(pinning.policyInForce.listVersion)
        self.listRequests.append(ListRequest(day: day, version: version, isRefused: isRefused))
        let outcome = await pinning.refresh()
        try #require(outcome.isSuccess, "\(outcome)")
        if outcome.hasChanged || isRefused, self.isRefused(pinning, self.presented) { self.refusedAgain += 1 }
    }

    private func isRefused(_ pinning: Pinning, _ path: ValidatedPath) -> Bool {
        pinning.decision(for: path, host: Self.host).verdict == .block
    }

    /// All processes end and begin anew: what they know is what they had stored.
    mutating func restart() throws { self.apps = try (0..<self.habits.count).map(self.made) }

    /// The requests of a day.
    func listRequests(on day: Int64) -> [ListRequest] { self.listRequests.filter { $0.day == day } }

    /// The number that hold a version or a newer one.
    func holding(_ version: Int64) -> Int {
        self.apps.count { ($0.policyInForce.listVersion ?? 0) >= version }
    }

    /// The number that would refuse a server that presents this.
    func refusing(_ path: ValidatedPath) -> Int { self.apps.count { self.isRefused($0, path) } }
}

/// The way from an installation to what answers for lists.
private struct Network: ListFetcher {
    let responder: ListResponder
    /// The address of the installation: the service counts so many requests of each.
    let peer: IPAddress
    let clock: ManualClock
    let site: String

    func fetch(_ request: FetchRequest) async throws -> FetchResponse {
        let path = String(request.address.dropFirst(self.site.count))
        var message = HTTPRequest(method: .get, scheme: "https", authority: "pins.example.com", path: path)
        if let tag = request.ifNoneMatch { message.headerFields[.ifNoneMatch] = tag }
        guard let answer = self.responder.answer(to: message, from: self.peer) else {
            return FetchResponse(status: 404)
        }
        let body = answer.body.map { Array($0.readableBytesView) } ?? []
        return FetchResponse(status: answer.head(at: self.clock.now).status.code, body: body)
    }
}
