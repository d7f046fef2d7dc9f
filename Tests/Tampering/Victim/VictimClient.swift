// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import CertificatePinning
import Foundation
import NIOCore
import NIOSSL
import PinningIntegrity
import PinningNIO
import VictimBench

/// The client that is attacked, wired as an app does it.
final class VictimClient: Sendable {
    private let stage: Stage
    private let monitor: IntegrityMonitor
    private let pinning: Pinning
    private let http: PinnedHTTPClient
    private let looks = LookTimes()

    /// Starts a client with what servers wrote into a folder.
    init(_ options: VictimOptions) throws {
        let stage = try Stage(in: options.target)
        let monitor = IntegrityMonitor(
            .standard(options.declared), on: LinuxMachine(), policy: options.policy, canary: .pinning())
        let offered = FolderFetcher(folder: options.target)
        var configuration = PinningConfiguration(fetcher: offered, reportSender: offered)
        configuration.watch(monitor)
        // For the table: how long the look takes within a handshake.
        let looks = self.looks
        configuration.runtimeEnvironment = { [runtimeEnvironment = configuration.runtimeEnvironment] in
            let start = DispatchTime.now().uptimeNanoseconds
            defer { looks.note(DispatchTime.now().uptimeNanoseconds - start) }
            return runtimeEnvironment?() ?? RuntimeEnvironment()
        }
        self.pinning = try Pinning(
            root: .file(Stage.path("root.json", options.target)), list: .file(Stage.path("list.json", options.target)),
            refreshFrom: URL(string: "https://lists.example.com/v1/lists/com.example.app"), state: .memory,
            configuration: configuration)
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(Stage.path("authority.pem", options.target))
        var settings = HTTPClient.Configuration(tlsConfiguration: tls)
        settings.dnsOverride = [stage.host: "127.0.0.1"]
        self.http = try PinnedHTTPClient(by: self.pinning, configuration: settings)
        self.stage = stage
        self.monitor = monitor
    }

    /// Talks to the attacker's server first, then to the pinned one.
    func connect() async -> [String: Any] {
        self.looks.forget()
        let foreign = await self.answer(onPort: self.stage.foreignPort)
        let pinned = await self.answer(onPort: self.stage.pinnedPort)
        return [
            "trusted": foreign == "hello", "foreign": foreign, "connected": pinned == "hello", "pinned": pinned,
            "microseconds": self.looks.first / 1_000, "looks": self.looks.count,
        ]
    }

    /// Offers the list under a foreign signature.
    func refresh() async -> [String: Any] {
        let outcome = await self.pinning.refresh()
        return [
            "forged": await self.pinning.status.list?.version == self.stage.forgedVersion,
            "refused": outcome.refused.map { "\($0.code)" },
        ]
    }

    /// Looks at everything. Returns how long it took, in microseconds.
    func look() async -> UInt64 {
        let start = DispatchTime.now().uptimeNanoseconds
        await self.monitor.look()
        return (DispatchTime.now().uptimeNanoseconds - start) / 1_000
    }

    /// Tries the canary a thousand times, and says what it gave.
    func sing() async -> [String: Any] {
        let canary = Canary.pinning()
        var order = SystemRandomNumberGenerator()
        var heard: [String: Int] = [:]
        for _ in 0..<1_000 {
            for signal in await canary.sing(&order) { heard["\(signal)", default: 0] += 1 }
        }
        return ["rounds": 1_000, "heard": heard]
    }

    /// What was noticed so far, without another look.
    var noticed: [String: Any] {
        [
            "refuses": self.monitor.decision.refuses, "blind": self.monitor.blindSpots.map(\.description),
            "signals": self.monitor.sightings.map {
                [$0.signal.name.description, $0.signal.confidence.description, $0.signal.evidence]
            },
        ]
    }

    /// The body of an answer, or why there is none. Each request gets a connection of its own.
    private func answer(onPort port: Int) async -> String {
        var request = HTTPClientRequest(url: "https://\(self.stage.host):\(port)/")
        request.headers.add(name: "Connection", value: "close")
        do {
            let response = try await self.http.execute(request, timeout: .seconds(600))
            return String(buffer: try await response.body.collect(upTo: 1_024))
        } catch {
            return self.pinning.refusal(for: error, host: self.stage.host)?.decision.reason.description ?? "\(error)"
        }
    }
}
