// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import CertificatePinning
import Logging
import NIOCore
import NIOSSL
import PinListMetadata
import PinningTesting
import ServiceLifecycle

@testable import PinListServer
@testable import PinListStore

/// A service that runs in this process for the time of a test, on ports that the system chose.
struct RunningService: Sendable {
    /// The address for lists and reports.
    let address: String
    /// The address of the operator's part: the same, unless there is a listener of its own.
    let adminAddress: String
    /// The store of the service.
    let store: any ServiceStore
    /// Takes its reports.
    let intake: ReportIntake
    /// The clock of the service.
    let clock: TurnedClock
    /// The client that asks it, and follows no redirect.
    let client: HTTPClient
    /// Asks it to end: what was accepted is finished first.
    let shutDown: @Sendable () async -> Void

    /// The error that a program could not be started.
    struct NotStarted: Error {}

    /// Runs a service beside `body`.
    ///
    /// - Parameters:
    ///   - store: Its store.
    ///   - clock: What time it is.
    ///   - trust: The certificate of its TLS, where it has one.
    ///   - logger: Where it says what happens.
    ///   - change: Changes the configuration, which listens on loopback on a port that the system chooses.
    static func with(
        _ store: any ServiceStore, clock: TurnedClock = TurnedClock(), trust: [NIOSSLCertificate] = [],
        logger: Logger = Self.silent, _ change: @Sendable (inout ServiceConfiguration) -> Void = { _ in },
        _ body: @Sendable (RunningService) async throws -> Void
    ) async throws {
        var configuration = ServiceConfiguration()
        configuration.listen = ListenAddress("127.0.0.1:0") ?? .loopback
        configuration.deadlines = .ample
        change(&configuration)
        let (listening, opened) = AsyncStream.makeStream(of: PinListService.Listening.self)
        var service = PinListService(
            configuration, store: store, clock: clock, instance: "test", logger: logger
        ) { opened.yield($0) }
        service.certificateInterval = .milliseconds(20)
        let group = ServiceGroup(services: [service], logger: logger)
        let expected = configuration.adminListen == nil ? 1 : 2
        try await Self.withClient(trust) { client in
            async let ended: Void = {
                defer { opened.finish() }
                try await group.run()
            }()
            var found: [PinListService.Listening] = []
            for await listener in listening {
                found.append(listener)
                if found.count == expected { break }
            }
            let outcome: Result<Void, any Error>
            do {
                guard let admin = found.first(where: \.isAdmin), found.count == expected else { throw NotStarted() }
                let open = found.first { !$0.isAdmin } ?? admin
                try await body(
                    RunningService(
                        address: open.address, adminAddress: admin.address, store: store,
                        intake: service.parts.intake, clock: clock, client: client,
                        shutDown: { await group.triggerGracefulShutdown() }))
                outcome = .success(())
            } catch { outcome = .failure(error) }
            await group.triggerGracefulShutdown()
            try await ended
            try outcome.get()
        }
    }

    /// A logger that says nothing.
    static var silent: Logger {
        var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        logger.logLevel = .critical
        return logger
    }

    private static func withClient(
        _ trust: [NIOSSLCertificate], _ body: (HTTPClient) async throws -> Void
    ) async throws {
        var configuration = HTTPClient.Configuration()
        // Before the service ends an idle connection: a request that meets its end on the way is not sent again.
        configuration.connectionPool.idleTimeout = .seconds(5)
        configuration.timeout.connect = TimeAmount.ample
        configuration.redirectConfiguration = .disallow
        if !trust.isEmpty {
            configuration.tlsConfiguration = .makeClientConfiguration()
            configuration.tlsConfiguration?.trustRoots = .certificates(trust)
        }
        try await HTTPClient.withHTTPClient(configuration: configuration) { try await body($0) }
    }
}
