// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import HTTPTypes
internal import Hummingbird
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis

/// `/v1/alarms`: what fires and what is silenced, acknowledging and silencing (formats.md, section 7).
struct AlarmRoute: Sendable {
    /// The maximum number of bytes of a body: a key and a reason of 256 characters, escaped.
    static let maximumBytes = 8_192

    let parts: ServiceParts
    let access: AdminAccess

    /// Adds the routes.
    func add(to router: Router<ServiceContext>) {
        router.get("/v1/alarms") { request, _ in try await self.list(request) }
        router.post("/v1/alarms/acknowledge") { request, _ in try await self.acknowledge(request) }
        router.post("/v1/alarms/silence") { request, _ in try await self.silence(request) }
        router.post("/v1/alarms/unsilence") { request, _ in try await self.unsilence(request) }
    }

    private func list(_ request: Request) async throws -> Response {
        try await self.access.expectReader(request)
        let now = self.parts.clock.now
        let read: (alarms: [StoredAlarm], silences: [StoredSilence])
        do {
            read = try await self.parts.store.read { (try $0.firingAlarms(), try $0.silences(at: now)) }
        } catch { throw Problem.unavailable(error) }
        return .json(
            .object([
                .init("alarms", .array(read.alarms.map { Self.value($0, read.silences) })),
                .init("silences", .array(read.silences.map { Self.value($0) })),
            ]))
    }

    private func acknowledge(_ request: Request) async throws -> Response {
        try await self.change(request, members: ["key"]) { body throws(Problem) in
            let key = try Self.text("key", body)
            return { try AlarmHandling.acknowledge(key, in: $0, by: $1, at: $2) }
        }
    }

    private func silence(_ request: Request) async throws -> Response {
        try await self.change(request, members: ["what", "seconds", "because", "upTo"]) { body throws(Problem) in
            let what = try Self.text("what", body)
            let reason = PrintableText.line(
                try Self.text("because", body), maximumLength: AlarmHandling.maximumReasonLength)
            guard case .integer(let seconds)? = body["seconds"],
                (AlarmHandling.minimumSilence...AlarmHandling.maximumSilence).contains(seconds)
            else {
                throw Self.malformed(
                    "seconds is a whole number from \(AlarmHandling.minimumSilence) to \(AlarmHandling.maximumSilence): "
                        + "a silence ends by itself")
            }
            let severity: Alarm.Severity?
            if body["upTo"] == nil {
                severity = nil
            } else {
                severity = Alarm.Severity(rawValue: try Self.text("upTo", body))
                guard severity != nil else { throw Self.malformed("upTo is notice, warning or critical") }
            }
            return { store, actor, now in
                try AlarmHandling.silence(
                    what, for: seconds, because: reason, upTo: severity, in: store, by: actor, at: now) != nil
            }
        }
    }

    private func unsilence(_ request: Request) async throws -> Response {
        try await self.change(request, members: ["what"]) { body throws(Problem) in
            let what = try Self.text("what", body)
            return { try AlarmHandling.unsilence(what, in: $0, by: $1, at: $2) }
        }
    }

    /// The change that a body asks for: gets the store, the id of the token and the time; `false` when there is nothing
    /// to change.
    private typealias Change = @Sendable (StoreTransaction, String, Timestamp) throws -> Bool

    /// Changes something for an operator: 204, or 404 when there is nothing to change.
    private func change(
        _ request: Request, members: Set<String>, _ read: ([String: JSONValue]) throws(Problem) -> Change
    ) async throws -> Response {
        let actor = try await self.access.expectOperator(request)
        let bytes = try await request.body(upTo: Self.maximumBytes)
        guard case .object(let given)? = try? JSONValue(strict: bytes) else { throw Self.malformed("no JSON object") }
        if let other = given.first(where: { !members.contains($0.name) }) {
            let name = PrintableText.line(other.name, maximumLength: 64)
            throw Self.malformed("the member \(name) is not one of \(members.sorted().joined(separator: ", "))")
        }
        let change = try read(Dictionary(given.map { ($0.name, $0.value) }) { first, _ in first })
        let now = self.parts.clock.now
        let isDone: Bool
        do { isDone = try await self.parts.store.write { try change($0, actor, now) } } catch let problem as Problem {
            throw problem
        } catch { throw Problem.unavailable(error) }
        guard isDone else {
            throw Problem.notFound("no such alarm fires, or it is not silenced; tumbler alarms lists them")
        }
        return Response(status: .noContent, headers: [.cacheControl: "no-store"])
    }

    private static func text(_ name: String, _ body: [String: JSONValue]) throws(Problem) -> String {
        guard case .string(let text)? = body[name], !text.isEmpty else { throw self.malformed("\(name) is missing") }
        return text
    }

    private static func malformed(_ detail: String) -> Problem { Problem(.badRequest, "malformed", detail) }

    private static func value(_ alarm: StoredAlarm, _ silences: [StoredSilence]) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("key", .string(alarm.key)), .init("kind", .string(alarm.kind)),
            .init("subject", .string(Alarm.subject(of: alarm.key))), .init("severity", .string(alarm.severity)),
            .init("since", .string(alarm.since.description)), .init("detail", .string(alarm.detail)),
        ]
        if let action = AlarmRunbook.action(alarm.kind, alarm.detail), let kind = Alarm.Kind(rawValue: alarm.kind) {
            members += [.init("action", .string(action)), .init("runbook", .string(AlarmRunbook.path(kind)))]
        }
        if let seen = alarm.acknowledgement {
            members += [
                .init("acknowledgedBy", .string(seen.by)), .init("acknowledgedAt", .string(seen.at.description)),
            ]
        }
        if let silence = silences.covering(alarm) {
            members.append(.init("silencedUntil", .string(silence.endsAt.description)))
        }
        return .object(members)
    }

    private static func value(_ silence: StoredSilence) -> JSONValue {
        .object([
            .init("what", .string(silence.what)), .init("upTo", .string(silence.severity.rawValue)),
            .init("until", .string(silence.endsAt.description)), .init("by", .string(silence.madeBy)),
            .init("because", .string(silence.reason)),
        ])
    }
}
