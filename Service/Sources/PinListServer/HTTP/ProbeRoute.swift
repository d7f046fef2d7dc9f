// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import HTTPTypes
internal import Hummingbird
internal import PinListMetadata

/// `POST /v1/lists/{name}/probe`: what `tumbler probe --push` found.
struct ProbeRoute: Sendable {
    /// The most bytes of a result: 10,000 hosts with a path each.
    static let mostBytes = 16_777_216
    /// The most hosts of a result.
    static let mostHosts = 10_000
    /// The most values in it.
    static let mostValues = 1_000_000

    let parts: ServiceParts
    let access: AdminAccess

    func respond(to request: Request, _ context: ServiceContext) async throws -> Response {
        let name = try context.parameters.require("name")
        _ = try await self.access.expectProber(of: name, request)
        let body = try await request.body(upTo: Self.mostBytes)
        let probes = try Self.probes(body, name: name, now: self.parts.clock.now)
        do { try await self.parts.store.write { try $0.add(probes) } } catch { throw Problem.unavailable(error) }
        return Response(status: .accepted, headers: [.contentLength: "0"])
    }

    /// Reads a result.
    private static func probes(_ body: [UInt8], name: String, now: Timestamp) throws -> [StoredProbe] {
        func malformed(_ detail: String) -> Problem { Problem(.badRequest, "malformed", detail) }
        let value: JSONValue
        do throws(JSONValue.Defect) {
            value = try JSONValue(strict: WholeNumbers.only(in: body), mostValues: Self.mostValues)
        } catch {
            throw malformed(error.description)
        }
        guard case .object(let members) = value,
            case .array(let hosts)? = members.first(where: { $0.name == "hosts" })?.value
        else { throw malformed("no result of tumbler probe --json: hosts is missing") }
        guard hosts.count <= Self.mostHosts else { throw malformed("over \(Self.mostHosts) hosts") }
        var at = now
        if case .string(let text)? = members.first(where: { $0.name == "at" })?.value, let time = try? Timestamp(text) {
            at = min(time, now)
        }
        return try hosts.map { host in
            guard case .object(let members) = host,
                case .string(let hostname)? = members.first(where: { $0.name == "host" })?.value,
                case .bool(let isOK)? = members.first(where: { $0.name == "ok" })?.value
            else { throw malformed("a host without host and ok") }
            return StoredProbe(
                name: name, host: PrintableText.line(hostname, maximumLength: 253), at: at, isOK: isOK,
                result: host.bytes)
        }
    }
}
