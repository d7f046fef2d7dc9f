// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import FoundationNetworking
import PinListClient
import PinListMetadata
import PinningTesting
import PinningURLSession
import Security

/// A device with a network of its own: servers, a publisher of lists, and a client that has its list.
struct Phone {
    let network = SimulatedNetwork()
    let lists: SimulatedServer
    let clock: ManualClock
    let pinning: Pinning

    /// Publishes a list and starts a client with it.
    ///
    /// - Parameters:
    ///   - domains: The entries.
    ///   - roots: What the device comes to trust, beside what other tests had it trust.
    ///   - isAsleep: Whether no task wakes by its clock, which goes on all the same.
    ///   - edit: Changes to the list beside its entries.
    ///   - runtimeEnvironment: What the app says of its own process.
    init(
        _ domains: [PinnedDomain], trusting roots: [TestCertificate], isObserving: Bool = false,
        reportSender: any ReportSender = NoNetwork(), stopsWithoutDecision: Bool = false,
        revocation: SystemRevocation = .system, isAsleep: Bool = false, _ edit: (inout PinList) -> Void = { _ in },
        runtimeEnvironment: (@Sendable () -> RuntimeEnvironment)? = nil
    ) throws {
        AdapterMethods.declare()
        for root in roots { SimulatedSystem.addAnchor(root.der) }
        let now = Timestamp(secondsSince1970: TestPKI.now)
        var repository = try RepositorySimulator(at: now, domains: domains.map { PinList.Domain($0) })
        _ = try repository.publishList { list in edit(&list) }
        self.lists = SimulatedServer(repository)
        self.clock = ManualClock(now)
        var configuration = PinningConfiguration(
            fetcher: self.lists, reportSender: reportSender, isObserving: isObserving,
            clock: isAsleep ? DeviceAsleep(clock: self.clock) : self.clock,
            randomness: FixedRandomness(fraction: 0))
        configuration.revocation = revocation
        configuration.runtimeEnvironment = runtimeEnvironment
        configuration.stopsWithoutDecision = stopsWithoutDecision
        self.pinning = try Pinning(
            root: .bytes(repository.roots[0]), list: .bytes(repository.lists[repository.lists.count - 1]),
            refreshFrom: URL(string: SimulatedServer.address), state: .memory,
            configuration: configuration)
    }

    /// A device whose list pins one host to the leaf of its server, which answers.
    static func bank(
        _ host: String = "api.example.com", isObserving: Bool = false, mode: PinnedDomain.Mode = .enforce
    ) throws -> (phone: Phone, pki: TestPKI) {
        let pki = try TestPKI([host])
        let phone = try Phone(
            [Self.entry(host, [pki.leaf.pin], mode: mode)], trusting: [pki.root], isObserving: isObserving)
        phone.serve(host, pki.chain)
        return (phone, pki)
    }

    /// An entry.
    static func entry(
        _ host: String, _ pins: [Pin], mode: PinnedDomain.Mode = .enforce, reportTo: [String] = []
    ) throws -> PinnedDomain {
        PinnedDomain(try HostName(host), mode: mode, pins: pins.map { KnownPin($0) }, reportTo: reportTo)
    }

    /// A pin that nothing matches.
    static var strangePin: Pin { Pin(kind: .publicKey, hashing: [1, 2, 3]) }

    /// Puts a server at a host that answers `/` with its host's name.
    func serve(
        _ host: String, _ chain: [TestCertificate], port: Int = 443, version: String = "h2",
        challenges: [SimulatedNetwork.Challenge] = [.serverTrust], address: String = "192.0.2.1",
        isBehindProxy: Bool = false
    ) {
        self.network.add(
            SimulatedNetwork.Server(
                presented: chain.map(\.der), challenges: challenges, address: address, version: version,
                isBehindProxy: isBehindProxy),
            at: host, port: port)
        for scheme in ["https", "http", "wss"] {
            self.network.setAnswer(.text(host), for: Self.url(host, port: port, scheme: scheme).absoluteString)
        }
    }

    /// The address of a server's `/`.
    static func url(_ host: String, port: Int = 443, scheme: String = "https") -> URL {
        var components = URLComponents()
        components.scheme = scheme
        components.host = host
        components.port = port == 443 ? nil : port
        components.path = "/"
        return components.url ?? URL(fileURLWithPath: "/")
    }

    /// A configuration for sessions on this device's network.
    var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.simulatedNetwork = self.network
        return configuration
    }

    /// A pinned session.
    func session(
        delegate: (any URLSessionDelegate)? = nil, secondsToWaitForNewerList: Double = 0
    ) -> URLSession {
        URLSession.pinned(
            by: self.pinning, configuration: self.configuration, delegate: delegate,
            secondsToWaitForNewerList: secondsToWaitForNewerList)
    }

    /// Publishes a list that differs, and puts it in force.
    func publish(_ edit: (inout PinList) -> Void) async throws {
        try self.lists.publish { repository in
            repository.time = self.clock.now
            _ = try repository.publishList(edit)
        }
        _ = await self.pinning.refresh()
    }
}

/// The clock of a device that sleeps: its time goes on, and no task wakes.
private struct DeviceAsleep: PinningClock {
    let clock: ManualClock

    var now: Timestamp { self.clock.now }

    func sleep(seconds: Double) async throws { try await self.clock.sleep(seconds: 1e9) }
}

extension URLSession {
    /// What `data(for:)` gives for an address, as text, or what it throws.
    func text(_ url: URL) async -> Result<String, any Error> {
        do { return .success(String(decoding: try await self.data(from: url).0, as: UTF8.self)) } catch {
            return .failure(error)
        }
    }

    /// What `pinnedData(for:)` gives, likewise.
    func pinnedText(_ url: URL) async -> Result<String, any Error> {
        do {
            return .success(String(decoding: try await self.pinnedData(for: URLRequest(url: url)).0, as: UTF8.self))
        } catch {
            return .failure(error)
        }
    }
}

extension Result where Failure == any Error {
    /// The value, if there is one.
    var value: Success? { try? self.get() }

    /// The error, if there is one.
    var error: (any Error)? {
        if case .failure(let error) = self { error } else { nil }
    }

    /// The reason of the refusal that was thrown.
    var refusal: PinningDecision.Reason? { (self.error as? PinningError)?.decision.reason }

    /// The code of the `URLError` that was thrown.
    var code: URLError.Code? { (self.error as? URLError)?.code }
}

extension Duration {
    /// The time for what must come: met by a hang alone, on a machine however slow.
    static var ample: Duration { .seconds(600) }
}
