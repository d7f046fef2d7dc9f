// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import CertificatePinning
import CommandLineInterface
import Foundation
import NIOPosix
import PinListClient
import PinListMetadata
import PinListRepository
import SimulatedInstallations

/// Everything that a drill has before something goes wrong: a project, a service, a server, an interceptor that can be
/// switched on, and installations. All of it is on loopback, and in one folder.
struct DrillStage: Sendable {
    /// The number of installations.
    static let installations = 8
    /// The number of installations that the interceptor gets.
    static let intercepted = 3

    /// The folder of the drill.
    let folder: URL
    /// The copy of the project, in it.
    let project: ProjectFolder
    /// The copy of the project's source.
    let source: DrillSource
    /// Rules of lint that the list breaks before anything is wrong.
    let allowed: [String]
    /// The pins of the host, each a line of `tumbler.yaml`.
    let pinLines: [String]
    /// The service.
    let service: DrillService
    /// The server of the host.
    let server: DrillServer
    /// The interceptor, while connections are intercepted.
    let interceptor: DrillServer
    /// The authority of the server.
    let authority: DrillCertificate
    /// The installations.
    let population: Population

    /// Sets the stage, and takes it down in any case.
    ///
    /// - Parameters:
    ///   - source: The source of the real project.
    ///   - host: The host; `nil` for the first that can be drilled.
    ///   - folder: An empty folder.
    /// - Throws: ``CommandError`` when the stage cannot be set; what `body` throws.
    static func with<Result: Sendable>(
        copying source: ListSource, host: String?, in folder: URL, _ body: (DrillStage) async throws -> Result
    ) async throws -> Result {
        var ends: [@Sendable () async -> Void] = []
        let result: Swift.Result<Result, any Error>
        do {
            let stage = try await self.set(copying: source, host: host, in: folder) { ends.append($0) }
            result = .success(try await body(stage))
        } catch {
            result = .failure(error)
        }
        for end in ends.reversed() { await end() }
        return try result.get()
    }

    private static func set(
        copying source: ListSource, host: String?, in folder: URL,
        _ atTheEnd: (@escaping @Sendable () async -> Void) -> Void
    ) async throws -> DrillStage {
        let now = SystemClock().now
        let backup = try CommandError.wrapping { () throws(RepositoryError) in try PrivateKey(new: .p256) }
        // The service tells public authorities by the organisation in their names, so this one has such a name.
        let authority = try DrillCertificate.authority("Let's Encrypt", "Drill Root", at: now)
        let strange = try DrillCertificate.authority("Example Proxies", "Example Inspection Root", at: now)
        // A copy with other pins says which host is meant; the certificate is for that one.
        let drilled = try DrillSource(copying: source, host: host, pins: []).host
        let certificate = try authority.issued(for: drilled, at: now)
        let pins = [
            KnownPin(try certificate.pin, note: "current"),
            KnownPin(Pin(kind: .publicKey, hashing: backup.subjectPublicKeyInfo), note: "backup"),
        ]
        let copy = try DrillSource(copying: source, host: drilled.description, pins: pins)
        try Data((authority.pem + strange.pem).utf8).write(to: folder.appendingPathComponent("roots.pem"))

        let project = ProjectFolder(folder.appendingPathComponent("project", isDirectory: true))
        let new = try NewProject(in: project, name: copy.name, entries: [], after: copy.domains, at: now)
        try await new.write(rootPassphrase: nil, pinsPassphrase: nil)
        let root = try CommandError.wrapping { () throws(RepositoryError) in try project.roots() }.first ?? []

        let service = try await DrillService.start(in: folder, name: copy.name, root: root)
        atTheEnd { await service.stop() }
        let server = try await DrillServer.start(certificate, by: authority)
        atTheEnd { await server.stop() }
        let interceptor = try await DrillServer.start(try strange.issued(for: drilled, at: now), by: strange)
        atTheEnd { await interceptor.stop() }

        let text = copy.text(service: service.address, pinsKey: NewProject.pinsKeyName)
        try CommandError.wrapping { () throws(RepositoryError) in
            try ProjectFolder.write(Array(text.utf8), to: project.source)
        }
        let allowed = try Self.errors(of: project, at: now)
        try await Tumbler.run(Self.releaseWords(project, service, allowing: allowed)) { _ in }
        let stage = DrillStage(
            folder: folder, project: project, source: copy, allowed: allowed, pinLines: pins.map(Self.line),
            service: service, server: server, interceptor: interceptor, authority: authority,
            population: try Self.population(project, copy, service, atTheEnd))
        try await stage.begin(atTheEnd)
        return stage
    }

    /// The installations, which ship the list of the project as it is now.
    private static func population(
        _ project: ProjectFolder, _ source: DrillSource, _ service: DrillService,
        _ atTheEnd: (@escaping @Sendable () async -> Void) -> Void
    ) throws -> Population {
        let http = HTTPClient(eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton))
        atTheEnd { try? await http.shutdown() }
        let population = try Population(
            Self.installations, shipping: project.root(1).path, project.list.path,
            refreshFrom: "\(service.address)/v1/lists/\(source.name)",
            trusting: project.folder.deletingLastPathComponent().appendingPathComponent("roots.pem").path,
            host: source.host.description, reportingOver: http)
        atTheEnd { await population.shutdown() }
        return population
    }

    /// The words of a release.
    static func releaseWords(_ project: ProjectFolder, _ service: DrillService, allowing rules: [String]) -> [String] {
        ["release", "-C", project.folder.path, "--token-file", service.tokenFile.path, "--yes"]
            + Set(rules).sorted().flatMap { ["--allow", $0] }
    }

    /// The errors of lint in the copy, on entries that the drill does not touch.
    private static func errors(of project: ProjectFolder, at time: Timestamp) throws -> [String] {
        let bytes = try DiskFiles(in: project.folder).bytes(
            of: ProjectFolder.sourceName, limit: ListSource.maximumLength)
        let source = try ListSource(bytes, file: ProjectFolder.sourceName, files: DiskFiles(in: project.folder))
        var linter = Linter(try PinList(building: source, after: nil, at: time), at: time)
        linter.source = source
        let errors = linter.findings.filter { $0.rule.severity == .error }.map(\.rule.id)
        return Set(errors).sorted()
    }

    /// A pin as a line of `tumbler.yaml`.
    static func line(_ known: KnownPin) -> String {
        "      - \(YAMLWriter.line(known))"
    }

    /// All installations ask for a list and get their page; from then on their reports are sent.
    private func begin(_ atTheEnd: (@escaping @Sendable () async -> Void) -> Void) async throws {
        _ = await self.population.refresh()
        let clients = self.population.clients
        let running = Task {
            await withTaskGroup(of: Void.self) { group in
                for client in clients { group.addTask { await client.run() } }
            }
        }
        atTheEnd {
            running.cancel()
            await running.value
        }
        let port = self.server.port
        let pages = await self.population.fetch { _ in port }
        guard pages.allowed == ["pin-match": Self.installations] else {
            throw CommandError(
                .undecided, "before anything is broken, the installations get: \(DrillPages(pages).words)",
                hint: "is the clock of this machine right?")
        }
    }
}
