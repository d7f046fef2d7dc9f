// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import Hummingbird
internal import HummingbirdCore
internal import HummingbirdTLS
package import Logging
internal import NIOCertificateReloading
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import PinListMetadata
package import PinListStore
internal import ServiceLifecycle

/// The service: lists served, reports collected, people warned. It holds no signing key: it can verify, and cannot sign.
package struct PinListService: Service {
    /// A listener that is open.
    package struct Listening: Hashable, Sendable {
        /// The address, with the port that the system chose where 0 was asked for.
        package let address: String
        /// Whether the operator's part is there.
        package let isAdmin: Bool
    }

    /// The interval of checks of the certificates' files. Tests wait less long.
    var certificateInterval = ServiceTLS.interval

    /// The parts of the service.
    let parts: ServiceParts
    private let descriptors: DescriptorBudget
    private let eventLoops: Int?
    private let onListening: @Sendable (Listening) -> Void

    /// A service that begins with ``run()``.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - store: The store.
    ///   - clock: The clock.
    ///   - instance: A name that no other instance on the same store has, such as a random one.
    ///   - descriptors: The number of descriptors that the system allows the process; `nil` where that is not known,
    ///     and bounds no connections.
    ///   - eventLoops: The number of threads that serve connections: as many as there are processors for the process.
    ///     `nil` for those that all of the process share.
    ///   - logger: The logger.
    ///   - onListening: The closure that gets each listener.
    package init(
        _ configuration: ServiceConfiguration, store: any ServiceStore, clock: any ServiceClock = SystemServiceClock(),
        instance: String, descriptors: Int? = nil, eventLoops: Int? = nil, logger: Logger,
        onListening: @escaping @Sendable (Listening) -> Void = { _ in }
    ) {
        self.parts = ServiceParts(configuration, store: store, clock: clock, instance: instance, logger: logger)
        self.descriptors = DescriptorBudget(limit: descriptors)
        self.eventLoops = eventLoops
        self.onListening = onListening
    }

    /// Serves until its task is cancelled, or a graceful shutdown is asked for: then what was accepted is finished and
    /// stored first.
    ///
    /// - Throws: ``StoreError`` when what is published cannot be read, and what the network says of a listener.
    package func run() async throws {
        guard let eventLoops else { return try await self.run(on: MultiThreadedEventLoopGroup.singleton) }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: max(eventLoops, 1))
        do { try await self.run(on: group) } catch {
            try? await group.shutdownGracefully()
            throw error
        }
        try await group.shutdownGracefully()
    }

    private func run(on group: MultiThreadedEventLoopGroup) async throws {
        for (name, refusal) in try await self.parts.lists.readiness(self.parts.store) {
            self.parts.logger.error(
                "\(name) is not served: the configured root, or what is stored, does not verify: \(refusal)")
        }
        let tls = try self.parts.configuration.tls.map {
            try ServiceTLS($0, every: self.certificateInterval, logger: self.parts.logger)
        }
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: HTTPWebhookSender.configuration)
        // Shut down from the end: listeners first, then what stores what they accepted.
        var services: [any Service] = [
            PublicationPoller(lists: self.parts.lists, store: self.parts.store, logger: self.parts.logger),
            InstanceHeartbeat(parts: self.parts),
            ListRequestRecorder(
                counter: self.parts.listRequests, store: self.parts.store, instance: self.parts.instance,
                logger: self.parts.logger),
            Retention(
                store: self.parts.store, instance: self.parts.instance, limits: self.parts.configuration.retention,
                clock: self.parts.clock, logger: self.parts.logger,
                seen: { [room = self.parts.room] seen in room.withLockedValue { $0 = seen } }),
            AlarmWatch(parts: self.parts, sender: HTTPWebhookSender(client: client)),
            UnwrittenEntryRecorder(
                entries: self.parts.unwritten, store: self.parts.store, clock: self.parts.clock,
                logger: self.parts.logger),
        ]
        if let tls { services.append(tls.reloader) }
        do {
            services.append(Listeners(listeners: try self.listeners(tls, group)))
            try await ServiceGroup(services: services, logger: self.parts.logger).run()
        } catch {
            try? await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }

    /// Checks whether it could serve: all that is published verifies, and its certificates can be read.
    ///
    /// A database that is not there yet, or that an older version wrote, is none of its business: the service makes it, and
    /// brings it up to date, when it begins.
    ///
    /// - Returns: The result for clients, by the root that their app ships: a line for each name and root; nothing
    ///   without a database of today.
    /// - Throws: ``StoreError``, and what is wrong with the certificates and the configured roots.
    @discardableResult
    package func check() async throws -> [String] {
        let (published, refusals) = try await self.parts.lists.check(self.parts.store)
        if let refusal = refusals.min(by: { $0.key < $1.key }) {
            throw StoreError(.damaged, "\(refusal.key): the stored metadata do not verify: \(refusal.value)")
        }
        _ = try self.parts.configuration.tls.map { try ServiceTLS($0, logger: self.parts.logger) }
        return published.sorted { $0.key < $1.key }.flatMap { name, published in
            published.clients.map { "\(name): \($0)" }
        }
    }

    private func listeners(_ tls: ServiceTLS?, _ group: MultiThreadedEventLoopGroup) throws -> [any Service] {
        let configuration = self.parts.configuration
        let isShared = configuration.adminListen == nil
        let access = AdminAccess(
            store: self.parts.store, clock: self.parts.clock, isOpen: configuration.isOpen)
        let routes = ServiceRoutes(
            parts: self.parts, access: access,
            dashboard: DashboardRoutes(
                dashboard: try Dashboard(), parts: self.parts, access: access,
                forms: FormGuard(key: Self.random(32)), random: Self.random))
        let publicRouter = Router(context: ServiceContext.self, options: .autoGenerateHeadEndpoints)
        routes.addPublic(to: publicRouter)
        if isShared { routes.addAdmin(to: publicRouter) }
        let missing: @Sendable () -> Response = {
            routes.dashboard.answer(ErrorPage(status: 404, detail: ""), .notFound)
        }
        let lists = ListResponder(
            lists: self.parts.lists, listRequests: self.parts.listRequests, source: self.parts.source,
            clock: self.parts.clock)
        let responder = PublicResponder(
            lists: lists, next: ProblemResponder(publicRouter, page: isShared ? missing : nil))
        let maximum = self.descriptors.publicConnections(
            configured: configuration.maximumConnections, hasAdminListener: !isShared)
        if let wanted = configuration.maximumConnections, let maximum, maximum < wanted {
            self.parts.logger.warning(
                """
                maximumConnections is \(wanted), and \(maximum) are allowed, for the process may open no more files: raise \
                that limit (LimitNOFILE, ulimit -n)
                """)
        }
        let reports = ReportResponder(
            reports: self.parts.reports, source: self.parts.source, clock: self.parts.clock)
        var listeners: [any Service] = [
            try self.application(
                responder, at: configuration.listen, tls, (lists, reports), maximum, group, isAdmin: isShared)
        ]
        if let address = configuration.adminListen {
            // With lists: a command asks one address for what needs a token and for what clients get.
            let adminRouter = Router(context: ServiceContext.self, options: .autoGenerateHeadEndpoints)
            adminRouter.get("/healthz") { _, _ in Response.json(.object([.init("status", .string("alive"))])) }
            routes.addAdmin(to: adminRouter)
            listeners.append(
                try self.application(
                    PublicResponder(lists: lists, next: ProblemResponder(adminRouter, page: missing)), at: address, tls,
                    nil, DescriptorBudget.adminConnections, group, isAdmin: true))
        }
        return listeners
    }

    /// Random bytes that cannot be guessed.
    private static func random(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    private func application(
        _ responder: some HTTPResponder<ServiceContext>, at address: ListenAddress, _ tls: ServiceTLS?,
        _ responders: (lists: ListResponder, reports: ReportResponder)?, _ maximumConnections: Int?,
        _ group: MultiThreadedEventLoopGroup, isAdmin: Bool
    ) throws -> any Service {
        let http = HTTPServerBuilder.http1(
            configuration: ConnectionLimits.configuration(self.parts.configuration.deadlines, responders))
        let onListening = self.onListening
        let cap = maximumConnections.map { ConnectionCap($0, clock: self.parts.clock, logger: self.parts.logger) }
        let scheme = tls == nil ? "http" : "https"
        let application = Application(
            responder: TargetCheck(next: responder),
            server: try tls.map { try .tls(http, tlsConfiguration: $0.configuration) } ?? http,
            configuration: ApplicationConfiguration(
                address: .hostname(address.host, port: address.port), serverName: nil, backlog: 1_024,
                availableConnectionsDelegate: cap),
            onServerRunning: { channel in
                let place = address.text(port: channel.localAddress?.port ?? address.port)
                onListening(Listening(address: "\(scheme)://\(place)", isAdmin: isAdmin))
            },
            eventLoopGroupProvider: .shared(group), logger: self.parts.logger)
        return AddressedListener(listener: application, address: address)
    }
}
