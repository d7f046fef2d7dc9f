// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AsyncHTTPClient
import CertificatePinning
import Foundation
import NIOCore
import NIOSSL
import PinListClient
import PinListMetadata
import PinningNIO
import PinningTesting

/// A publisher, a client that has its list, and the roots that the machine trusts; nothing leaves the process but the
/// connections of a test.
struct PinnedScene {
    let lists: SimulatedServer
    let clock: ManualClock
    let pinning: Pinning
    let roots: [TestCertificate]

    /// Publishes a list and starts a client with it.
    ///
    /// - Parameters:
    ///   - domains: The entries.
    ///   - roots: What the machine trusts.
    ///   - edit: Changes to the list beside its entries.
    init(
        _ domains: [PinnedDomain], roots: [TestCertificate], isObserving: Bool = false,
        reportSender: any ReportSender = NoNetwork(), _ edit: (inout PinList) -> Void = { _ in },
        configure: (inout PinningConfiguration) -> Void = { _ in }
    ) throws {
        let now = Timestamp(secondsSince1970: TestPKI.now)
        var repository = try RepositorySimulator(at: now, domains: domains.map { PinList.Domain($0) })
        _ = try repository.publishList { list in edit(&list) }
        self.lists = SimulatedServer(repository)
        self.clock = ManualClock(now)
        var configuration = PinningConfiguration(
            fetcher: self.lists, reportSender: reportSender, isObserving: isObserving, clock: self.clock,
            randomness: FixedRandomness(fraction: 0))
        configure(&configuration)
        self.pinning = try Pinning(
            root: .bytes(repository.roots[0]), list: .bytes(repository.lists[repository.lists.count - 1]),
            refreshFrom: URL(string: SimulatedServer.address), state: .memory, configuration: configuration)
        self.roots = roots
    }

    /// An entry that enforces.
    static func entry(
        _ host: String, _ pins: [Pin], position: KnownPin.Position = .any, mode: PinnedDomain.Mode = .enforce
    ) throws -> PinnedDomain {
        PinnedDomain(try HostName(host), mode: mode, pins: pins.map { KnownPin($0, position: position) })
    }

    /// A pin that nothing matches.
    static var strangePin: Pin { Pin(kind: .publicKey, hashing: [1, 2, 3]) }

    /// Publishes a list that differs, and puts it in force.
    func publish(_ edit: (inout PinList) -> Void) async throws {
        try self.lists.publish { repository in
            repository.time = self.clock.now
            _ = try repository.publishList(edit)
        }
        _ = await self.pinning.refresh()
    }

    /// TLS settings that trust the scene's roots.
    var tls: TLSConfiguration {
        get throws {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates(try self.roots.map { try $0.nio })
            return tls
        }
    }

    /// AsyncHTTPClient's settings: trusts the scene's roots, and finds the named hosts on loopback.
    func configuration(_ hosts: [String]) throws -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration.patient(try self.tls)
        configuration.dnsOverride = Dictionary(uniqueKeysWithValues: hosts.map { ($0, "127.0.0.1") })
        return configuration
    }

    /// A pinned client for hosts on loopback.
    func client(_ hosts: [String], options: PinnedHTTPClient.Options = .init()) throws -> PinnedHTTPClient {
        try PinnedHTTPClient(by: self.pinning, configuration: try self.configuration(hosts), options: options)
    }
}

extension PinnedHTTPClient {
    /// Gets a resource, and the text of its body.
    func text(_ url: String) async throws -> String {
        let response = try await self.execute(HTTPClientRequest(url: url), timeout: .ample)
        return String(buffer: try await response.body.collect(upTo: 1_048_576))
    }
}
#endif
