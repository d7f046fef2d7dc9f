// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import CertificateSightings
internal import HTTPTypes
internal import Hummingbird
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis

/// `POST /v1/lists/{name}/sightings`: certificates that a monitor of Certificate Transparency found in logs.
struct SightingRoute: Sendable {
    /// The most bytes of a request.
    static let maximumBytes = 1_048_576
    /// The most certificates of a request.
    static let maximumCertificates = 64
    /// The most values of a request: each certificate has a few members and its chain.
    static let maximumValues = 4_096

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
        let (rules, digest) = (SightingRules(held.list), held.digest)
        let storing: SightingStoring
        do {
            storing = try await self.parts.store.write { store in
                let storing = try store.add(told, of: name, by: rules, of: digest, at: now)
                // All of a request, or none.
                if storing == .full { throw CapacityError() }
                return storing
            }
        } catch is CapacityError {
            throw Problem(
                .serviceUnavailable, "too-many-sightings",
                "nothing is stored: \(StoreTransaction.maximumSightings) certificates of \(name) are kept, and the oldest go 30 "
                    + "days after they expire; watch fewer names", headers: [.retryAfter: "86400"])
        } catch { throw Problem.unavailable(error) }
        guard case .stored(let states) = storing else { throw Problem.unavailable(StoreError(.damaged, "")) }
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

    /// Reads a request.
    private static func read(
        _ body: [UInt8], of name: String, by actor: String, at now: Timestamp
    ) throws(Problem) -> [(sighting: StoredSighting, certificate: [UInt8])] {
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
        var told: [(sighting: StoredSighting, certificate: [UInt8])] = []
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
                        member.certificate
                    ))
            } catch { throw malformed("certificate \(index): \(error)") }
        }
        return told
    }
}
