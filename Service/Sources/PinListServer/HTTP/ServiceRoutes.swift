// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import HTTPTypes
internal import Hummingbird
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis

/// The routes of the service. One router for the public, one for the operator; on one listener the second comes after
/// the first.
struct ServiceRoutes: Sendable {
    let parts: ServiceParts
    let access: AdminAccess
    let dashboard: DashboardRoutes

    /// The public routes.
    func addPublic(to router: Router<ServiceContext>) {
        router.get("/healthz") { _, _ in Response.json(.object([.init("status", .string("alive"))])) }
        router.get("/v1/openapi.json") { _, _ in
            Response.bytes(Array(OpenAPIDocument.text.utf8), "application/json")
        }
        self.addReports(to: router)
    }

    private func addReports(to router: Router<ServiceContext>) {
        let reports = self.parts.reports
        router.post("/v1/reports") { request, context in try await reports.respond(to: request, context) }
        self.parts.attestation.add(to: router)
    }

    /// The routes of the operator.
    func addAdmin(to router: Router<ServiceContext>) {
        let publication = PublicationRoute(
            publisher: self.parts.publisher, lists: self.parts.lists, store: self.parts.store, access: self.access,
            clock: self.parts.clock, published: { try? await self.parts.evaluateSightings() })
        router.put("/v1/lists/:name") { request, context in
            try await publication.respond(to: request, context)
        }
        let logs = LogsRoute(parts: self.parts, access: self.access)
        router.put("/v1/lists/:name/logs/:file") { request, context in try await logs.write(request, context) }
        // What is published there was answered before.
        router.get("/v1/lists/:name/logs/:file") { _, _ -> Response in
            throw Problem.notFound("nothing is published here")
        }
        let probe = ProbeRoute(parts: self.parts, access: self.access)
        router.post("/v1/lists/:name/probe") { request, context in try await probe.respond(to: request, context) }
        let sighting = SightingRoute(parts: self.parts, access: self.access)
        router.post("/v1/lists/:name/sightings") { request, context in
            try await sighting.respond(to: request, context)
        }
        router.get("/v1/lists/:name/sightings") { request, context in try await sighting.list(request, context) }
        let gate = GateRoute(parts: self.parts, access: self.access)
        router.post("/v1/lists/:name/gates") { request, context in try await gate.respond(to: request, context) }
        let rotation = RotationRoute(parts: self.parts, access: self.access)
        router.get("/v1/lists/:name/rotations") { request, context in try await rotation.list(request, context) }
        router.get("/v1/lists/:name/rotations/:host") { request, context in try await rotation.read(request, context) }
        router.put("/v1/lists/:name/rotations/:host") { request, context in try await rotation.write(request, context) }
        let adoption = AdoptionRoute(parts: self.parts, access: self.access)
        router.get("/v1/lists/:name/adoption") { request, context in
            try await adoption.respond(to: request, context)
        }
        router.get("/v1/status") { request, _ in
            let names = try await self.access.expectReaderOrPublisher(request)
            return Response.bytes(try await self.status(of: names), "application/json")
        }
        let export = ExportRoute(store: self.parts.store, access: self.access)
        router.get("/v1/reports") { request, _ in try await export.respond(to: request) }
        router.get("/metrics") { request, _ in
            try await self.access.expectReader(request)
            return Response.bytes(Array(try await self.metrics().utf8), MetricsText.contentType)
        }
        AlarmRoute(parts: self.parts, access: self.access).add(to: router)
        self.dashboard.add(to: router)
        router.get("/readyz") { request, _ in
            try await self.access.expectReader(request)
            return try await self.readiness()
        }
    }

    private func status(of names: [String]?) async throws -> [UInt8] {
        do {
            let overview = try await self.parts.overview()
            let newest = overview.newestVersions
            let scope = StatusScope(overview, names)
            let isSeen = scope.isWhole ? nil : { @Sendable (host: String) in scope.hasHost(host) }
            let groups = try await self.parts.store.read { store in
                try store.groups(
                    GroupFilter(since: overview.time.before(604_800), limit: StatusDocument.maximumGroups),
                    newest: newest, at: overview.time, ofHosts: isSeen)
            }
            return try StatusDocument(
                overview, groups, in: scope, room: self.parts.room.withLockedValue { $0 }
            ).bytes()
        } catch let error as StoreError { throw Problem.unavailable(error) }
    }

    private func metrics() async throws -> String {
        do {
            return ServiceMetrics.text(
                try await self.parts.overview(), self.parts.reportCounters.current, self.parts.intake.written,
                self.parts.room.withLockedValue { $0 })
        } catch let error as StoreError { throw Problem.unavailable(error) }
    }

    /// Whether it is ready: the store answers, and all that is published verifies.
    private func readiness() async throws -> Response {
        do {
            let refusals = try await self.parts.lists.readiness(self.parts.store)
            guard refusals.isEmpty else {
                let names = refusals.map { "\($0.key) (\($0.value.code))" }.sorted().joined(separator: ", ")
                throw Problem(.serviceUnavailable, "not-verified", "the stored metadata do not verify: \(names)")
            }
        } catch let error as StoreError { throw Problem.unavailable(error) }
        return .json(.object([.init("status", .string("ready"))]))
    }
}

/// The context of a request: what is known besides the request.
struct ServiceContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The address of the other end of the connection; `nil` where that is no IP address.
    let peer: IPAddress?

    init(source: ApplicationRequestContextSource) {
        self.coreContext = CoreRequestContextStorage(source: source)
        self.peer = source.channel.peerAddress
    }
}

extension Channel {
    /// The address of the other end; `nil` where that is no IP address.
    var peerAddress: IPAddress? { self.remoteAddress?.ipAddress.flatMap { IPAddress(text: $0) } }
}
