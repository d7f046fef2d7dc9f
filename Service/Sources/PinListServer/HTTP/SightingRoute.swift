// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import CertificateSightings
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis

/// `POST` and `GET /v1/lists/{name}/sightings`: certificates that a monitor of Certificate Transparency found in logs.
struct SightingRoute: Sendable {
    /// The maximum number of bytes of a request (formats.md, section 7).
    static let maximumBytes = 1_048_576
    /// The maximum number of certificates of a request (formats.md, section 7).
    static let maximumCertificates = 64
    /// The maximum number of values of a request: each certificate has a few members and its chain.
    static let maximumValues = 4_096
    /// The maximum number of certificates of a page (formats.md, section 7).
    static let pageLength = 64

    let parts: ServiceParts
    let access: AdminAccess

    func respond(to request: Request, _ context: ServiceContext) async throws -> Response {
        let name = try context.parameters.require("name")
        let actor = try await self.access.expectProber(of: name, request)
        let body = try await request.body(upTo: Self.maximumBytes)
        guard let held = self.parts.lists.names[name]?.published.list else {
            throw Problem.notFound("no list is published under this name")
        }
        let now = self.parts.clock.now
        let told = try Self.read(body, of: name, by: actor, at: now)
        let (rules, edition) = (SightingRules(held.list), SightingRules.edition(of: held.list, held.digest, at: now))
        let storing: SightingStoring
        do {
            storing = try await self.parts.store.write { store in
                let storing = try store.add(
                    told.map { ($0.sighting, $0.certificate) }, of: name, by: rules, of: edition, at: now)
                // All of a request, or none.
                guard case .stored(let states) = storing else { throw CapacityError() }
                try store.keep(sightingIssuers: Self.issuers(told, states), of: name, at: now)
                return storing
            }
        } catch is CapacityError {
            throw Problem(
                .serviceUnavailable, "too-many-sightings",
                "nothing is stored: \(StoreTransaction.maximumTokenSightings) certificates of \(name) are kept of one token, "
                    + "\(StoreTransaction.maximumSightings) of all, and the oldest go 30 days after they expire; watch fewer "
                    + "names, or go on with another token", headers: [.retryAfter: "86400"])
        } catch { throw Problem.unavailable(error) }
        guard case .stored(let states) = storing else { throw Problem.unavailable(StoreError(.damaged, "")) }
        do { try await self.parts.lists.reloadSightedKeys(from: self.parts.store, at: now) } catch {
            // The next look for alarms reads them.
            self.parts.logger.storeFailed("the keys in logs cannot be read", error)
        }
        return .json(
            .object([
                .init(
                    "certificates",
                    .array(
                        zip(told, states).map { told, state in
                            .object([
                                .init("identity", .string(told.sighting.identity)),
                                .init("state", .string(state.rawValue)),
                            ])
                        }))
            ]), status: .accepted)
    }

    private struct CapacityError: Error {}

    /// The issuers of certificates that are kept, by the pin of their keys.
    private static func issuers(_ told: [Told], _ states: [SightingState]) -> [String: [UInt8]] {
        var issuers: [String: [UInt8]] = [:]
        for (told, state) in zip(told, states) where state != .unlisted {
            guard let key = told.sighting.issuers.first, let issuer = told.issuer else { continue }
            issuers[key] = issuers[key] ?? issuer
        }
        return issuers
    }

    /// Answers a page of what is kept.
    func list(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let name = try context.parameters.require("name")
        try await self.access.expectReader(of: name, request)
        guard self.parts.lists.names[name]?.published.list != nil else {
            throw Problem.notFound("no list is published under this name")
        }
        let after = try Self.identity(request.uri.queryParameters["after"])
        let found: [SightedBytes]
        do {
            found = try await self.parts.store.read { store in
                try store.sightedBytes(of: name, after: after, limit: Self.pageLength + 1)
            }
        } catch { throw Problem.unavailable(error) }
        let page = found.prefix(Self.pageLength)
        var members: [JSONValue.Member] = [
            .init("name", .string(name)), .init("certificates", .array(page.map(Self.document))),
        ]
        if found.count > page.count, let last = page.last {
            members.append(.init("next", .string(last.sighting.identity)))
        }
        return .json(.object(members))
    }

    /// The identity after which a page begins; empty for the first one.
    private static func identity(_ text: Substring?) throws(Problem) -> String {
        guard let text else { return "" }
        guard ListedLogs.isDigest(String(text)) else {
            throw Problem(.badRequest, "malformed", "after must be an identity: 64 lower-case hexadecimal digits")
        }
        return String(text)
    }

    private static func document(_ kept: SightedBytes) -> JSONValue {
        let sighting = kept.sighting
        var members: [JSONValue.Member] = [
            .init("identity", .string(sighting.identity)), .init("state", .string(sighting.state.rawValue)),
            .init("names", .array(sighting.names.map { .string($0) })), .init("key", .string(sighting.key)),
            .init("serial", .string(sighting.serialNumber)), .init("issuer", .string(sighting.issuer)),
            .init("notBefore", .string(sighting.notBefore.description)),
            .init("notAfter", .string(sighting.notAfter.description)),
            .init("isPrecertificate", .bool(sighting.isPrecertificate)),
            .init("der", .string(Base64.encode(kept.certificate))),
        ]
        if let issuer = kept.issuer { members.append(.init("issuerDER", .string(Base64.encode(issuer)))) }
        return .object(members)
    }

    /// A certificate of a request.
    private typealias Told = (sighting: StoredSighting, certificate: [UInt8], issuer: [UInt8]?)

    /// Reads a request.
    private static func read(
        _ body: [UInt8], of name: String, by actor: String, at now: Timestamp
    ) throws(Problem) -> [Told] {
        func malformed(_ detail: String) -> Problem {
            Problem(.badRequest, "malformed", "nothing is stored: \(PrintableText.line(detail))")
        }
        let value: JSONValue
        do throws(JSONValue.ParsingError) {
            value = try JSONValue(strict: body, maximumValues: Self.maximumValues)
        } catch {
            throw malformed(error.description)
        }
        guard case .object(let members) = value,
            case .array(let certificates)? = members.first(where: { $0.name == "certificates" })?.value
        else { throw malformed("certificates is missing") }
        guard certificates.count <= Self.maximumCertificates else {
            throw malformed("over \(Self.maximumCertificates) certificates")
        }
        var told: [Told] = []
        for (index, value) in certificates.enumerated() {
            do throws(SightingError) {
                let member = try ToldCertificate(value)
                let certificate = try SightedCertificate(member.certificate)
                let issuers = SightedIssuers.verified(of: member.certificate, in: member.chain)
                told.append(
                    (
                        StoredSighting(
                            certificate, issuers: issuers, log: member.log,
                            // A log cannot have taken it later than now.
                            loggedAt: member.loggedAt.map { min($0, now) }, of: name, by: actor, at: now),
                        member.certificate, issuers.isEmpty ? nil : member.chain.first
                    ))
            } catch { throw malformed("certificate \(index): \(error)") }
        }
        return told
    }
}
