// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import HTTPTypes
internal import Hummingbird
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis

/// `POST /v1/lists/{name}/probe`: what `tumbler probe --push` found.
struct ProbeRoute: Sendable {
    /// The maximum number of bytes of a result: 10,000 hosts with a path each.
    static let maximumBytes = 16_777_216
    /// The maximum number of hosts of a result: the entries of the largest list (formats.md, section 7).
    static let maximumHosts = 10_000
    /// The maximum number of bytes of one host: 16 certificates of 700 bytes and 64 addresses of 400 take more than
    /// half.
    static let maximumHostBytes = 65_536
    /// The maximum number of values in it: 100 for each of the hosts.
    static let maximumValues = 1_000_000
    /// The maximum number of hosts that a refusal names: the sender has the rest.
    static let maximumNamed = 10

    let parts: ServiceParts
    let access: AdminAccess

    func respond(to request: Request, _ context: ServiceContext) async throws -> Response {
        let name = try context.parameters.require("name")
        _ = try await self.access.expectProber(of: name, request)
        let body = try await request.body(upTo: Self.maximumBytes)
        guard let list = self.parts.lists.names[name]?.published.list?.list else {
            throw Problem.notFound("no list is published under this name")
        }
        let probes = try Self.probes(body, name: name, now: self.parts.clock.now)
        try Self.expectListed(probes.map(\.host), in: list)
        let (keys, now) = (
            probes.reduce(into: Set()) { $0.formUnion(ProbeFacts($1.result).leaves) }, self.parts.clock.now
        )
        do {
            try await self.parts.store.write { store in
                try store.dateBackProbes(of: name, at: now)
                try store.add(probes)
                try store.noteServed([name: keys], at: now)
            }
        } catch { throw Problem.unavailable(error) }
        return Response(status: .accepted, headers: [.contentLength: "0"])
    }

    /// Refuses hosts that are no domain of the newest list: a token that leaked must not warn of hosts that there are not.
    private static func expectListed(_ hosts: [String], in list: PinList) throws(Problem) {
        let listed = Set(list.domains.map { $0.entry.domain.description })
        let strangers = hosts.filter { !listed.contains($0) }
        guard !strangers.isEmpty else { return }
        let named = strangers.prefix(Self.maximumNamed).map { PrintableText.line($0, maximumLength: 64) }
        let more = strangers.count > named.count ? " and \(strangers.count - named.count) more" : ""
        throw Problem(
            .init(integerLiteral: 422), "not-listed",
            "nothing is stored: list \(list.version) has no domain \(named.joined(separator: ", "))\(more)")
    }

    /// Reads a result.
    private static func probes(_ body: [UInt8], name: String, now: Timestamp) throws -> [StoredProbe] {
        func malformed(_ detail: String) -> Problem { Problem(.badRequest, "malformed", detail) }
        let value: JSONValue
        do throws(JSONValue.ParsingError) {
            // A share is kept as it was written.
            value = try JSONValue(strict: body, maximumValues: Self.maximumValues, numbers: .written)
        } catch {
            throw malformed(error.description)
        }
        guard case .object(let members) = value,
            case .array(let hosts)? = members.first(where: { $0.name == "hosts" })?.value
        else { throw malformed("no result of tumbler probe --json: hosts is missing") }
        guard hosts.count <= Self.maximumHosts else { throw malformed("over \(Self.maximumHosts) hosts") }
        var at = now
        if case .string(let text)? = members.first(where: { $0.name == "at" })?.value, let time = try? Timestamp(text) {
            at = min(time, now)
        }
        return try hosts.map { host in
            guard case .object(let members) = host,
                case .string(let hostname)? = members.first(where: { $0.name == "host" })?.value,
                case .bool(let isOK)? = members.first(where: { $0.name == "ok" })?.value
            else { throw malformed("a host without host and ok") }
            let bytes = host.bytes
            guard bytes.count <= Self.maximumHostBytes,
                (try? JSONValue(strict: bytes, maximumValues: ProbeFacts.maximumValues)) != nil
            else {
                throw malformed("a host has over \(Self.maximumHostBytes) bytes or \(ProbeFacts.maximumValues) values")
            }
            return StoredProbe(
                name: name, host: PrintableText.line(hostname, maximumLength: 253), at: at, isOK: isOK, result: bytes)
        }
    }
}
